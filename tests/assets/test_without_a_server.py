"""Assets work where nothing of a server is installed: files are refused, received, uploaded and handed over."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, sys
from pathlib import Path

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"fastapi", "starlette", "uvicorn", "httpx", "python_multipart", "authlib"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())

from tests.assets.media import sound
from towpath import App, Settings, assets
from towpath.assets import uploads
from towpath.testing import drain

DATA = sound("wav", 2.0)

async def pieces():
    yield DATA

async def text():
    yield b"just a letter to a friend"

async def look(ctx, arrival):
    async with assets.open_file(ctx, arrival.asset) as path:
        return path.read_bytes() == DATA

async def note(tx, arrival):
    assert arrival.prepared is True
    return {"of": arrival.sender.name, "title": arrival.options["title"]}

async def main(folder):
    app = App(f"sqlite:///{folder}/jobs.db", settings=Settings(blobs_url=(folder / "blobs").as_uri()))
    assets.attach(app)
    assets.on_upload(app, "note", note, prepare=look)
    async with app:
        kept = await assets.receive(app, "north", "a.wav", pieces(), kinds=assets.MEDIA, created_by=None)
        assert (await assets.get(app, "north", kept.id)).bytes == len(DATA)
        try:
            await assets.receive(app, "north", "a.mp3", text(), kinds=assets.MEDIA, created_by=None)
        except assets.AssetRefused as refused:
            print(refused.why, refused)
        sender = assets.Sender("north", "1", "ann")
        upload = await uploads.create(app, sender, uploads.Wanted(len(DATA), "b.wav", "note", {"title": "Monday"}))
        assert (await uploads.append(app, upload, 0, pieces())).job_id is not None
        await drain(app)
        print((await uploads.find(app, upload.id)).result)
    print(sorted(name for name in sys.modules if name.startswith("towpath.http")))

asyncio.run(main(Path(sys.argv[1])))
"""


def test_assets_work_where_no_server_can_be_imported(tmp_path: Path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    refused, handed_over, modules = done.stdout.splitlines()
    assert refused.startswith("unfit 'a.mp3' is text, not")
    assert handed_over == "{'of': 'ann', 'title': 'Monday'}"
    assert modules == "[]"
