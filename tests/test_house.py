"""What holds for the package as a whole: who imports whom, how fast it starts, what it shows to the public."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import discotext
from discotext.solvers import Disco
from discotext.support.extras import explain_install

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "discotext"

# From the centre to the edge: a module imports only from those before it. docs/explanation/architecture.md draws it.
LAYERS = "version support core search solvers theory text language data victims experiment decoding testing".split()
LAYERS += "web cli __main__".split()
# The same inside each folder.
ORDER = {
    "support": "errors extras files garbage intervals keywords lazy progress redaction plain_text threads",
    "core": "arrays gain_model objectives padding problem reach chain_reach embedding oracle learning_oracle "
    "relaxation penalty rounding sampling solution swaps wrappers cache multilinear oracle_check",
    "search": "cost tuning solver beam branch_and_bound climbing enumeration frank_wolfe frugal nbest paths population "
    "recording rounds survey sweep pruning loop",
    "solvers": "beam disco disco_frank_wolfe disco_proximal disco_adam exact genetic gradient_greedy greedy "
    "lazy_greedy left_to_right local_search particle_swarm prefix_beam random ranked_greedy stochastic_greedy viterbi",
    "theory": "activation hardness linear_bag random_networks rates verdict independence change_matroid "
    "recurrent_unit set_function axioms best_within chain extensions properties guarantees ratios window_network "
    "counterexamples",
    "text": "resources closed_class pretrained vectors neighbours counterfit packaged_vectors wordnet thesaurus "
    "inflection words swap_features acceptability continuation encoder_scorer scorers filters polarity sources "
    "masked_lm tag_features tagging candidates merging space",
    "language": "sentences model ngram kneser_ney arpa kenlm_file sphinx pieces mixing causal masked recurrent "
    "registry",
    "data": "catalogue labels columns rows examples tables folders files registry texts",
    "victims": "folder model_files rate_limit scikit_vocabulary victim score_reader service_format subword_model "
    "timed_requests wrapped check encoded "
    "linear_pipeline linear_features linear_model linear_reader linear_text linear_slopes linear_bound surrogate "
    "function keras_model neural remote scikit spacy_pipeline subwords huggingface held saved registry",
    "victims/neural": "networks oracle row averaging_bound convolution_bound bounded victim adversary interval store "
    "training train_victim",
    "experiment": "terms judges classes record progress estimate figures_text queries summary threshold junit "
    "certificate coverage quality run_folder job preflight run pairing report flipped plotting html_view proof task "
    "result execution solver_list stand_in workload attack certify observation one_text explanation merge paper "
    "hardening",
    "experiment/execution": "ray_address work_queue scheduler worker processes ray executors",
    "experiment/report": "change_statistics table markup legend curve figures bracket sections texts showcase "
    "next_steps page side_by_side",
    "experiment/hardening": "recipe task fixed_trainer neural_trainer sklearn_trainer transformer_trainer trainers "
    "matrix outcome page harden",
    "decoding": "lines network constraints graph lists hocr_file json_files slf_file reading metrics ngram_reader "
    "mixtures oracle result decode run channel confusions "
    "index code_blocks passages changes spelling text corrector",
    "web": "errors turns messages model guard threads app server",
    "cli": "errors help names number_types data_options query_options service_options options output output_options "
    "progress tables figures gate texts terms one_text augment candidates check data merge attack certify compare "
    "counterfit optima predict compared_runs report reproduce train train_lm harden demo decode_options spelling "
    "decode serve",
}


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discotext"):
            inside = PACKAGE.joinpath(*node.module.split(".")[1:])
            submodules = {name.name for name in node.names if (inside / f"{name.name}.py").exists()}
            found |= {f"{node.module}.{name}" for name in submodules} or {node.module}
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("discotext")}
    return found


def files() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"]


def test_the_order_names_every_module():
    top = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in files()}
    assert top == set(LAYERS)
    for folder, order in ORDER.items():
        there = {path.stem for path in (PACKAGE / folder).glob("*.py")} - {"__init__"}
        there |= {path.parent.name for path in (PACKAGE / folder).glob("*/__init__.py")}
        assert there == set(order.split()), folder


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_to_the_centre(path):
    own = path.relative_to(PACKAGE).with_suffix("").parts
    if own[-1] == "__init__":
        return  # the public face of a folder
    for module in imports(path):
        target = module.split(".")[1:]
        if not target:
            continue  # the package itself
        if target[0] != own[0]:
            assert LAYERS.index(target[0]) < LAYERS.index(own[0]), f"{path.name} imports {module}"
            continue
        # Where the two ways part, the target comes first.
        same = next((at for at, (a, b) in enumerate(zip(own, target, strict=False)) if a != b), None)
        if same is not None:
            order = ORDER["/".join(own[:same])].split()
            assert order.index(target[same]) < order.index(own[same]), f"{path.name} imports {module}"


def test_solve_knows_no_solver_and_theory_is_used_by_one_command_alone():
    for path in (PACKAGE / "search").glob("*.py"):
        assert not any(module.startswith("discotext.solvers") for module in imports(path))
    users = {
        str(path.relative_to(PACKAGE))
        for path in files()
        if any(module.startswith("discotext.theory") for module in imports(path))
    }
    assert {user for user in users if not user.startswith("theory/")} == {"cli/optima.py"}


# What is asked for an attribute here does not come from us: a user's object, a library's, or a class's own fields.
FOREIGN = {"victims/linear_pipeline.py", "victims/linear_features.py", "victims/linear_reader.py",
           "victims/function.py", "victims/score_reader.py", "victims/scikit.py", "victims/scikit_vocabulary.py",
           "victims/held.py", "victims/keras_model.py", "victims/wrapped.py",
           "victims/registry.py", "victims/victim.py", "victims/huggingface.py", "victims/subword_model.py",
           "victims/model_files.py", "text/pretrained.py", "text/tagging.py", "data/examples.py", "data/registry.py",
           "language/pieces.py",
           "experiment/execution/ray.py", "cli/help.py", "support/lazy.py", "data/labels.py",
           "experiment/hardening/trainers.py"}  # fmt: skip
SERIALISATION = {"experiment/record.py", "experiment/summary.py", "experiment/job.py", "victims/neural/store.py",
                 "experiment/certificate.py"}  # fmt: skip


def test_what_a_part_can_do_is_declared_and_not_discovered():
    found = {}
    for path in files():
        asked = [
            node.lineno
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "hasattr", "setattr", "vars")
        ]
        name = str(path.relative_to(PACKAGE))
        if asked and name not in FOREIGN | SERIALISATION:
            found[name] = asked
    assert found == {}


def test_the_public_face_is_small_and_leaks_nothing():
    assert len(discotext.__all__) <= 20
    assert sorted(name for name in dir(discotext) if not name.startswith("__")) == sorted(discotext.__all__)
    assert isinstance(Disco(), Disco)
    for function in (discotext.attack, discotext.compare):
        parameters = inspect.signature(function).parameters.values()
        assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in parameters)
    documented = discotext.attack.__doc__ or ""
    assert all(f"    {name}:" in documented for name in inspect.signature(discotext.attack).parameters)


@pytest.mark.parametrize(
    ("name", "place"), [("Greedy", "solvers"), ("Status", "core"), ("load_data", "data"), ("Record", "experiment")]
)
def test_a_name_that_is_elsewhere_says_where(name, place):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; it is in discotext.{place}"):
        getattr(discotext, name)
    with pytest.raises(AttributeError, match=r"no attribute 'Nothing'$"):
        _ = discotext.Nothing


def test_a_misspelt_keyword_is_answered_with_the_nearest():
    with pytest.raises(TypeError, match="no parameter 'buget'; did you mean 'budget'"):
        discotext.attack(lambda texts: [], ([], []), buget=0.1)


@pytest.mark.parametrize(
    "folder", ["", "core", "search", "text", "language", "data", "victims", "experiment", "decoding"]
)
def test_the_type_checker_and_the_reader_see_the_same_public_names(folder):
    if folder in ("", "victims"):
        pytest.importorskip("torch", reason="NeuralVictim is a PyTorch network")
    name = f"discotext.{folder}".rstrip(".")
    tree = ast.parse((PACKAGE / folder / "__init__.py").read_text())
    for_checker = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{name}.")
        for alias in node.names
    } - {"lazy_names", "__version__"}
    module = __import__(name, fromlist=["__all__"])
    assert for_checker == set(module.__all__)
    for public in module.__all__:
        assert getattr(module, public).__doc__
        # A module of the same name would hide it.
        assert not (PACKAGE / folder / f"{public}.py").exists()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": ""}
    )


@pytest.mark.parametrize(
    "code",
    ["import discotext", "sys.argv = ['discotext', '--help']\nfrom discotext.cli import main\nmain()"],
    ids=["import discotext", "discotext --help"],
)
def test_it_starts_without_loading_what_takes_time(code):
    tell = "import atexit, sys\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    done = run("-c", tell + code)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    heavy = {"torch", "numpy", "rich", "transformers", "sklearn", "ray", "lemminflect", "safetensors"}
    assert not loaded & heavy
    assert len(loaded) < 300


def test_the_core_runs_without_torch():
    done = run(
        "-c",
        "import sys; sys.modules['torch'] = None\n"
        "import discotext as d\n"
        "from discotext.core import FunctionOracle\n"
        "from discotext.solvers import Greedy\n"
        "b = d.Batch.of([d.Problem((3, 3), 1)])\n"
        "print(d.solve(b, FunctionOracle(b, lambda p, c: float(sum(c))), Greedy())[0].score)",
    )
    assert done.stdout.strip() == "2.0", done.stderr


def test_a_missing_extra_is_named():
    done = run(
        "-c",
        "import sys; sys.modules['torch'] = None\n"
        "import discotext as d\n"
        "from discotext.core import EmbeddingOracle\n"
        "EmbeddingOracle(d.Batch.of([]), [], None, None)",
    )
    assert explain_install("torch") in done.stderr.splitlines()[-1]


def test_no_file_is_longer_than_400_lines():
    assert {path.name: n for path in files() if (n := len(path.read_text().splitlines())) > 400} == {}
