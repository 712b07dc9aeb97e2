"""Writes the Parquet files of this folder with pyarrow and polars (`pip install pyarrow polars`), each with its usual settings."""

import polars
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 40
columns = {
    "time_s": pa.array([0.01 * i for i in range(ROWS)]),
    "load_n": pa.array([None if i % 5 == 2 else 0.5 * i for i in range(ROWS)]),
    "count": pa.array([None if i == 3 else i % 3 for i in range(ROWS)], pa.int32()),
    "cells": pa.array([None if i == 4 else [1.0 * i, None, 2.0] for i in range(ROWS)]),
    "note": pa.array(["same" for _ in range(ROWS)]),
}
table = pa.table(columns)
pq.write_table(table, "snappy.parquet")
pq.write_table(table, "gzip-v2.parquet", compression="gzip", data_page_version="2.0")
polars.from_arrow(table).write_parquet("zstd.parquet")
