# SPDX-License-Identifier: MIT
"""Builds Go programs with the installed compiler."""
import os
import shutil
import subprocess
import tempfile

import tap


class Go:
    """Skips the test where there is no compiler."""

    def __init__(self):
        self.go = os.environ.get("GO") or shutil.which("go")
        if not self.go:
            tap.skip_all("no Go compiler: install golang-go, or name one in GO")
        self.work = tempfile.TemporaryDirectory(prefix="go-test-")
        self.release = tap.must(self.go, "env", "GOVERSION").strip()

    def path(self, name):
        return os.path.join(self.work.name, name.replace(" ", "-"))

    def build(self, source, name, machine="amd64", options=(), env=None):
        """The program that is made of the package in the folder source."""
        places = {"GO111MODULE": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local", "GOARCH": machine}
        places["GOCACHE"] = os.environ.get("GOCACHE") or os.path.join(self.work.name, "cache")
        made = subprocess.run([self.go, "build", *options, "-o", self.path(name), "."], cwd=source, text=True,
                              env=os.environ | places | (env or {}), capture_output=True, check=False)
        if made.returncode:
            raise RuntimeError(f"go build of {name}: {made.stderr}")
        return self.path(name)
