"""The requests of members of the classic protocol, and what answers them."""

from __future__ import annotations

from simulations.protocol.messages.heartbeat import ClassicHeartbeat, ClassicHeartbeatAnswer
from simulations.protocol.messages.join_group import JoinAnswer, JoinGroup
from simulations.protocol.messages.leave_group import LeaveAnswer, LeaveGroup
from simulations.protocol.messages.sync_group import SyncAnswer, SyncGroup

ClassicRequest = JoinGroup | SyncGroup | ClassicHeartbeat | LeaveGroup
ClassicAnswer = JoinAnswer | SyncAnswer | ClassicHeartbeatAnswer | LeaveAnswer
