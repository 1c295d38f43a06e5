"""The paper's models: networks over word vectors, trained here, stored in a folder, attacked with gradients."""
