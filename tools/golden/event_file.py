"""Makes tests/golden/events.tfevents: four events as written by TensorBoard's own writer.

  python3 -m venv build/venv-events && build/venv-events/bin/pip install tensorboard==2.21.0
  build/venv-events/bin/python tools/golden/event_file.py
  build/venv-events/bin/python tools/golden/event_file.py FOLDER   # prints what TensorBoard reads from a run of heed
"""

import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "events.tfevents"


def scalar(tag, value):
    """A summary of one number."""
    return Summary(value=[Summary.Value(tag=tag, simple_value=value)])


def make():
    """Writes the four kinds of record that tests/training/event_file_test.cpp compares."""
    writer = RecordWriter(GOLDEN.open("wb"))
    for event in (
            Event(wall_time=1700000000.25, file_version="brain.Event:2"),
            Event(wall_time=1700000001.5, step=301, session_log=SessionLog(status=SessionLog.START)),
            Event(wall_time=1700000002.75, step=400, summary=scalar("train/loss", 2.71828)),
            Event(wall_time=1700000003.0, step=3_000_000_000, summary=scalar("valid/" + "bleu" * 40, -0.5)),
    ):
        writer.write(event.SerializeToString())
    writer.close()


def show(folder):
    """Prints the scalars of a run as read by TensorBoard."""
    run = EventAccumulator(folder, size_guidance={"scalars": 0})
    run.Reload()
    for tag in run.Tags()["scalars"]:
        print(tag, [(event.step, round(event.value, 4)) for event in run.Scalars(tag)])


if __name__ == "__main__":
    show(sys.argv[1]) if len(sys.argv) > 1 else make()
