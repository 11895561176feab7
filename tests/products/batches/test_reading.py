"""A great many requests are read in bounded memory, into shards that providers take."""

import json
import tracemalloc

from towpath.batches.reading import Reader
from towpath.providers import Limits


def test_fifty_thousand_requests_take_little_memory_and_their_shards_keep_the_limits(tmp_path):
    source = tmp_path / "input"
    with source.open("w") as target:
        for number in range(50_000):
            body = {"messages": [{"role": "user", "content": "x" * 200}]}
            target.write(json.dumps({"custom_id": f"request number {number}", "body": body}) + "\n")
    tracemalloc.start()
    reader = Reader(tmp_path, ["m1", "m2"], Limits(count=9_000, bytes=2_000_000))
    read = reader.read(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (read.count, read.invalid) == (50_000, 0)
    assert peak < 4_000_000
    for model in (0, 1):
        shards = [shard for shard in read.shards if shard.model == model]
        assert sum(shard.count for shard in shards) == 50_000
        assert [shard.first for shard in shards[1:]] == [shard.last + 1 for shard in shards[:-1]]
    for shard in read.shards:
        assert shard.count <= 9_000
        assert reader.shard_path(shard).stat().st_size == shard.bytes <= 2_000_000
