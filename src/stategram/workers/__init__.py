"""Workers: processes of this machine or of a Dask cluster; what opens a cluster, and runs tasks on it."""

from stategram.workers.cluster import open_cluster

__all__ = ["open_cluster"]
