from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from akbench.dataset.environment import prepare_environment
from akbench.dataset.interpreter import find_interpreter
from akbench.spec import HostError, InputError


def wheel(folder, name, version, *, requires=(), scripts=()):
    """A wheel with one module called like the project."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {item}\n" for item in requires)
    entry_points = "[console_scripts]\n" + "".join(f"{script} = {name}:main\n" for script in scripts)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"def main():\n    print('{name} {version}')\n")
        archive.writestr(f"{name}_broken.py", "this is no Python\n")
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/entry_points.txt", entry_points)
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder of packages that pip's own configuration points to, as the only place to install from."""
    folder = tmp_path_factory.mktemp("packages")
    wheel(folder, "alpha", "1.0", requires=["beta>=2", "gamma; python_version < '3'"], scripts=["say-alpha"])
    wheel(folder, "zeta", "1.0", requires=["beta>=2", "epsilon"])
    wheel(folder, "beta", "2.1")
    wheel(folder, "beta", "1.0")
    with tarfile.open(folder / "delta-1.0.tar.gz", "w:gz") as archive:
        content = f"open({str(folder / 'ran')!r}, 'w')\n".encode()
        member = tarfile.TarInfo("delta-1.0/setup.py")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def pip_configuration(packages, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(packages))
    monkeypatch.setenv("PIP_TARGET", "/nonexistent")
    monkeypatch.setenv("PYTHONPATH", "/nonexistent")


def prepare(cache, *requirements, python="3.12", forbidden=None):
    return prepare_environment(python=python, requirements=requirements, cache=cache, forbidden=forbidden)


@pytest.fixture(scope="module")
def prepare_here(cache):
    return lambda *requirements, **options: prepare(cache, *requirements, **options)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_an_environment_holds_what_was_asked_for_and_nothing_else(prepare_here):
    made = prepare_here("alpha==1.0", "beta==2.1")
    assert made.packages == {"alpha": "1.0", "beta": "2.1"}
    assert output(made.python, "-c", "import alpha; alpha.main()") == "alpha 1.0"
    assert output(made.root / "bin/say-alpha") == "alpha 1.0"
    assert output(made.python, "-c", "import sys; print(sys.base_prefix)") == str(made.base_prefix)
    no_pip = subprocess.run([made.python, "-c", "import pip"], check=False, capture_output=True)
    assert no_pip.returncode == 1


def test_an_environment_is_built_once_and_then_needs_no_index(prepare_here, monkeypatch):
    made = prepare_here("alpha==1.0", "beta==2.1")
    stamp = (made.root / "environment.json").stat().st_mtime_ns
    monkeypatch.setenv("PIP_FIND_LINKS", "/nonexistent")
    assert prepare_here("Beta==2.1", "alpha == 1.0") == made
    assert (made.root / "environment.json").stat().st_mtime_ns == stamp


def test_an_environment_is_read_only_and_compiled(prepare_here):
    made = prepare_here("alpha==1.0", "beta==2.1")
    writable = [path for path in made.root.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o222]
    assert writable == []
    assert made.root.stat().st_mode & 0o222 == 0
    [compiled] = made.root.glob("lib/python3.12/site-packages/__pycache__/alpha.*.pyc")
    name = output(made.python, "-c", "import alpha; print(alpha.__cached__, alpha.main.__code__.co_filename)")
    assert name == f"{compiled} {compiled.parent.parent / 'alpha.py'}"


def test_no_requirements_make_an_empty_environment(prepare_here):
    made = prepare_here()
    assert made.packages == {}
    assert made.key != prepare_here("alpha==1.0", "beta==2.1").key


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("alpha", "not pinned"),
        ("alpha>=1", "not pinned"),
        ("alpha==1.*", "not pinned"),
        ("alpha==1,<2", "not pinned"),
        ("alpha===1.0", "not pinned"),
        ("alpha[x]==1.0", "not pinned"),
        ("alpha @ file:///tmp/alpha.whl", "not pinned"),
        ("alpha==1.0; python_version>'3'", "not pinned"),
        ("-r other.txt", "cannot be read"),
        ("--upgrade=x", "cannot be read"),
    ],
)
def test_only_pinned_requirements_are_taken(cache, requirement, message):
    with pytest.raises(InputError, match=message):
        prepare(cache, requirement)


def test_two_pins_of_one_package_contradict_each_other(cache):
    with pytest.raises(InputError, match=r"contradicts 'beta==1.0'"):
        prepare(cache, "beta==1.0", "Beta==2.1")


def test_the_library_under_test_is_never_installed(cache):
    with pytest.raises(InputError, match="hand out the solution"):
        prepare(cache, "more_itertools==10.8.0", forbidden="More.Itertools")


def test_an_open_closure_says_what_to_pin(cache):
    lacking = r"zeta 1\.0 requires epsilon, which is not installed"
    with pytest.raises(InputError, match=rf"not complete.*{lacking}.*has requirement beta>=2, but you have beta 1\.0"):
        prepare(cache, "zeta==1.0", "beta==1.0")


def test_a_package_that_cannot_be_had_is_told_in_pips_words_and_leaves_nothing(cache):
    before = {path.name for path in (cache / "environments").iterdir() if path.is_dir()}
    with pytest.raises(HostError, match="No matching distribution found for beta==9"):
        prepare(cache, "beta==9")
    assert {path.name for path in (cache / "environments").iterdir() if path.is_dir()} == before


def test_a_package_without_a_wheel_is_not_built_since_that_would_run_its_code(cache, packages):
    with pytest.raises(HostError, match="as a wheel"):
        prepare(cache, "delta==1.0")
    assert not (packages / "ran").exists()


def spoil(made):
    """Make of an environment what a build leaves that was killed near its end."""
    made.root.chmod(0o755)
    (made.root / "environment.json").unlink()
    (made.root / "lib").chmod(0o755)
    (made.root / "lib/half").touch()
    (made.root / "lib").chmod(0o555)


def test_what_a_killed_build_left_is_not_used(prepare_here):
    made = prepare_here()
    spoil(made)
    assert prepare_here() == made
    assert not (made.root / "lib/half").exists()


def test_a_build_that_is_killed_leaves_nothing_that_counts(cache, prepare_here):
    made = prepare_here()
    spoil(made)
    code = "import sys, pathlib; from akbench.dataset.environment import prepare_environment as p; "
    code += "print(flush=True); p(python='3.12', requirements=(), cache=pathlib.Path(sys.argv[1]))"
    with subprocess.Popen([sys.executable, "-c", code, cache], stdout=subprocess.PIPE) as building:
        building.stdout.readline()
        while building.poll() is None and (made.root / "lib/half").exists():
            time.sleep(0.001)
        building.kill()
    assert prepare_here() == made
    assert output(made.python, "-c", "print(1)") == "1"


def test_an_environment_whose_interpreter_moved_is_built_anew(prepare_here):
    made = prepare_here()
    (made.root / "bin").chmod(0o755)
    (made.root / "bin/python").unlink()
    (made.root / "bin/python").symlink_to("/nonexistent/python")
    assert output(prepare_here().python, "-c", "print(1)") == "1"


def test_builders_at_the_same_time_build_once(prepare_here):
    before = prepare_here()
    spoil(before)
    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(lambda _: prepare_here(), range(3)))
    assert made == [before] * 3
    assert output(before.python, "-c", "print(1)") == "1"


def test_a_python_that_is_not_here_is_told_with_what_was_tried(cache):
    with pytest.raises(HostError, match=r"no Python 3\.99 here; install it so that python3\.99 is on the PATH"):
        prepare(cache, python="3.99")


def test_a_stand_in_that_runs_no_python_is_passed_over(cache, tmp_path, monkeypatch):
    stand_in = tmp_path / "python3.98"
    stand_in.write_text("#!/bin/sh\nexit 127\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match=r"python3\.98 \(does not run: CalledProcessError\)"):
        find_interpreter("3.98")
