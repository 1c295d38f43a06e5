"""Reports: tables, a page and files, from the records of a run and nothing else.

table      one table value, and its writers
figures    the strongest attack of a run, and its figures as tables
terms      what the words of tables and pages mean
markup     HTML in which nothing from the data can be anything but text
chart      curves and bars, as SVG
flipped    flipped texts with their changes marked
texts      the texts of a page
sections   the other sections of a page
page       all together, in one file that needs no other
export     one row a record, as CSV or Parquet
"""

from discotext.report.export import write_csv, write_parquet
from discotext.report.page import make_page

__all__ = ["make_page", "write_csv", "write_parquet"]
