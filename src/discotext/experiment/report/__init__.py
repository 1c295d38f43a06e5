"""Reports: a page, a table and files, from the records of a run and nothing else.

table               one row a record, as CSV or Parquet
markup              HTML in which nothing from the data can be anything but text
change_statistics   which words, where and of what kind were changed
curve               charts, as SVG
figures             how numbers and tables are written
legend              terms that explain themselves, and the list of them
sections            the sections of the page
texts               the texts themselves, for the page's script and for readers without one
showcase            the flipped texts on top of the page
next_steps          what to do next, with commands to copy
page                all together, in one file that needs no other
side_by_side        the page of two runs
"""

from discotext.experiment.report.page import make_page
from discotext.experiment.report.side_by_side import make_comparison_page
from discotext.experiment.report.table import write_csv, write_parquet

__all__ = ["make_comparison_page", "make_page", "write_csv", "write_parquet"]
