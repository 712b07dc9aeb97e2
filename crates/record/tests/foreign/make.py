"""Writes the files beside it with the `mcap` package: what somebody else's recorder leaves, in each compression."""

import json
import pathlib

from mcap.writer import CompressionType, Writer

HERE = pathlib.Path(__file__).resolve().parent
for name, compression in (("zstd", CompressionType.ZSTD), ("lz4", CompressionType.LZ4), ("none", CompressionType.NONE)):
    with (HERE / f"{name}.mcap").open("wb") as file:
        writer = Writer(file, compression=compression)
        writer.start("", "a recorder of somebody else")
        schema = writer.register_schema("their.Touch", "jsonschema", b'{"type":"object"}')
        channel = writer.register_channel("/touch", "json", schema)
        for i in range(50):
            message = {"header": {"seq": i}, "force": {"z": -0.5 * i}, "cells": [i, i + 1, i + 2], "on": "yes"}
            time = 1_700_000_000_000_000_000 + i * 20_000_000
            writer.add_message(channel, time, json.dumps(message).encode(), time)
        writer.finish()
