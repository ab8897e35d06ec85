"""Work on several processes and machines: what opens a cluster, and runs tasks on it."""

from stategram.scale.cluster import open_cluster

__all__ = ["open_cluster"]
