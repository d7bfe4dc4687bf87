"""Timetables of small networks, and the way through them."""

from tramline.clock import DAY, format_time, parse_time
from tramline.errors import TimetableError
from tramline.network import Call, Network, Run, Stop, Trip
from tramline.planner import Journey, Planner, Ride
from tramline.reader import read_network
from tramline.service import Service

__all__ = [
    "DAY",
    "Call",
    "Journey",
    "Network",
    "Planner",
    "Ride",
    "Run",
    "Service",
    "Stop",
    "TimetableError",
    "Trip",
    "format_time",
    "parse_time",
    "read_network",
]
