"""The tracks of a Perfetto file, by their paths: the steps of scopes, domains, groups and counters, outermost first."""
import zlib

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb


def packets(data):
    trace = pb.Trace()
    trace.ParseFromString(data)
    for packet in trace.packet:
        if packet.HasField("compressed_packets"):
            yield from packets(zlib.decompress(packet.compressed_packets))
        else:
            yield packet


def descriptors(path):
    """The descriptors of a file's tracks, by UUID."""
    with open(path, "rb") as file:
        found = [packet.track_descriptor for packet in packets(file.read()) if packet.HasField("track_descriptor")]
    return {track.uuid: track for track in found}


def steps(tracks, uuid):
    """The path of a track. One directly below a thread is that thread's rows, or is shown beside them and has the thread's name
    before its own. A main thread has no name, and its rows are those of the process, and those that have another name.
    """
    track = tracks[uuid]
    if not track.parent_uuid:
        return [track.name] if track.name else []
    parent, name = tracks[track.parent_uuid], track.name
    if parent.HasField("thread"):
        prefix = f"{parent.name} "
        if parent.name:
            name = name[len(prefix):] if name.startswith(prefix) else ""
        elif name == parent.thread.thread_name:
            name = ""
    return steps(tracks, track.parent_uuid) + ([name] if name else [])
