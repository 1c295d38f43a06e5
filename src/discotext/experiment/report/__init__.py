"""From the records of a run to a page, a table and files: reports read records and nothing else.

reading   a run folder, checked
table     one row a record, as CSV or Parquet
markup    HTML in which nothing from the data can be anything but text
hits      which words, where and of what kind were changed
curve     charts, as SVG
parts     the sections of the page
texts     the texts themselves, for the page's script and for readers without one
page      all together, in one file that needs no other
"""

from discotext.experiment.report.page import page
from discotext.experiment.report.reading import Run, read_run
from discotext.experiment.report.table import write_csv, write_parquet

__all__ = ["Run", "page", "read_run", "write_csv", "write_parquet"]
