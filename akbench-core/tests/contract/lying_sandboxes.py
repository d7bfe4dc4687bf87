"""Sandboxes that break the contract in one point each. `fails` names the one contract test that must catch them."""

# ruff: noqa: N801 - a liar is a class within the class that catches it

from __future__ import annotations

import os
import signal
import subprocess
import threading
from dataclasses import replace

from akbench.sandbox.local import LocalSandbox
from akbench.spec import Limits, Problem, SandboxImage, SandboxProbe
from akbench.testing import SandboxContract


class Lies(SandboxContract):
    fails = ""
    stop_seconds = 4.0


class TestHonestSandbox(Lies):
    adapter = LocalSandbox


class TestSandboxWithoutMend(Lies):
    fails = "test_the_probe_answers"

    class adapter(LocalSandbox):
        def probe(self, image=None):
            return SandboxProbe(problems=(Problem(message="it is broken", mend=""),))


class TestSandboxFindsEveryImage(Lies):
    fails = "test_an_image_that_is_not_there_is_refused"

    class adapter(LocalSandbox):
        def find_image(self, name):
            return SandboxImage(id=name, environ={}, workdir="/", interpreter=("python3",))


class TestSandboxHidesExitCodes(Lies):
    fails = "test_the_end_of_a_process_is_reported"

    class adapter(LocalSandbox):
        def run(self, request):
            evidence = super().run(request)
            return replace(evidence, exit_code=0) if evidence.exit_code else evidence


class TestSandboxWithoutZone(Lies):
    fails = "test_times_are_those_of_the_process"

    class adapter(LocalSandbox):
        def run(self, request):
            evidence = super().run(request)
            return replace(evidence, started_at=evidence.started_at.replace(tzinfo=None))


class TestSandboxStartsAnything(Lies):
    """Calls a program that is not there one that failed."""

    fails = "test_a_program_that_cannot_start_says_why"

    class adapter(LocalSandbox):
        def run(self, request):
            evidence = super().run(request)
            return replace(evidence, start_error=None, exit_code=127) if evidence.start_error else evidence


class TestSandboxForgetsInput(Lies):
    fails = "test_input_and_report_are_handed_over"

    class adapter(LocalSandbox):
        def run(self, request):
            return super().run(replace(request, stdin=b""))


class TestSandboxLeaksEnvironment(Lies):
    fails = "test_the_environment_is_exactly_the_one_given"

    class adapter(LocalSandbox):
        def run(self, request):
            return super().run(replace(request, environ={**os.environ, **request.environ}))


class TestSandboxWithoutDeadline(Lies):
    """Lets a process go on until it was cancelled, and calls that late."""

    fails = "test_the_deadline_ends_the_process"

    class adapter(LocalSandbox):
        def run(self, request):
            if request.limits.timeout_seconds >= 1 or request.grace_seconds:
                return super().run(request)
            long = replace(request.limits, timeout_seconds=request.limits.timeout_seconds + 4.5)
            return super().run(replace(request, limits=long))


class TestSandboxWithoutCancel(Lies):
    fails = "test_cancelling_ends_the_process"

    class adapter(LocalSandbox):
        def run(self, request):
            return super().run(replace(request, cancelled=threading.Event()))


class TestSandboxKillsAtOnce(Lies):
    fails = "test_a_polite_end_is_offered_first"

    class adapter(LocalSandbox):
        def run(self, request):
            return super().run(replace(request, interrupt=signal.SIGKILL))


class TestSandboxLeavesDaemons(Lies):
    fails = "test_nothing_of_a_process_survives"

    class adapter(LocalSandbox):
        def run(self, request):
            if any("fork" in word for word in request.argv):
                subprocess.run(["sh", "-c", "setsid sleep 295 >/dev/null 2>&1 &"], check=True)
            return super().run(request)


class TestSandboxClaimsToConfine(Lies):
    fails = "test_a_bounded_sandbox_confines"

    class adapter(LocalSandbox):
        bounded = True

        def run(self, request):
            for bind in request.binds:
                if not bind.writable:  # as root, nothing less keeps a file from being made
                    bind.host.chmod(0o555)
                    return super().run(replace(request, argv=("sh", "-c", f"ls -d {bind.inside}")))
            return super().run(request)


class TestSandboxForgetsBounds(Lies):
    fails = "test_bounds_that_are_claimed_are_kept"

    class adapter(LocalSandbox):
        def run(self, request):
            return super().run(replace(request, limits=Limits(timeout_seconds=request.limits.timeout_seconds)))
