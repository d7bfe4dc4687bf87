"""The check: every finding about a repository in one pass. Reads only; runs nothing, opens no network."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from akbench_abv3.completed import LOGO_SUFFIXES
from akbench_abv3.dependencies.declared import Dependency, declared_dependencies
from akbench_abv3.dependencies.provided import secret_variables
from akbench_abv3.description.git import GitFacts, git_facts
from akbench_abv3.description.manifest import Manifest, read_manifest
from akbench_abv3.experiments.layout import Experiment, default_way, read_experiments
from akbench_abv3.finding import Finding, has_errors
from akbench_abv3.reading.bounded import OutsideError, contained, is_file, is_folder, is_there
from akbench_abv3.repository import Repository
from akbench_abv3.stated import DEFAULT_EXPERIMENT, DEFAULT_RESULTS_FOLDER, RUN_CONFIG_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from akbench_abv3.description.sections import RepoSection

__all__ = ["Checked", "check_repository"]

_EXPANSION: Final = re.compile(rf"\$\{{?{RUN_CONFIG_VARIABLE}")
_GROUPS: Final = ("", "abv3_repo", "run", "install", "dependency", "run_configs", "results")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found. `repository` is there when nothing in the description is wrong.

    `findings` are in the order of the groups: file, self-description, commands, dependencies, run
    configs, results.
    """

    root: Path
    level: str
    findings: tuple[Finding, ...]
    manifest: Manifest | None
    dependencies: tuple[Dependency, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    version: str | None = None
    version_source: str = ""
    results_folder: str = DEFAULT_RESULTS_FOLDER
    git: GitFacts = field(default_factory=GitFacts)
    repository: Repository | None = None

    @property
    def is_ok(self) -> bool:
        """Whether the check passes: no finding is an error."""
        return not has_errors(self.findings)


def check_repository(
    root: Path,
    *,
    level: str = "1",
    results: bool = False,
    allow_unknown_dependencies: bool = False,
    environment: Mapping[str, str] | None = None,
    apart_from: tuple[str, ...] = (),
) -> Checked:
    """Check the repository at `root`.

    `level` is "1" or "1+t"; `results` also judges existing results; the values of secret
    variables in `environment` must not stand in a transcript; changes in the folders `apart_from` and in the
    results folder do not make the work tree dirty.
    """
    root = Path(os.path.realpath(root))
    manifest, findings = read_manifest(root)
    if manifest is None:
        return Checked(root=root, level=level, findings=findings, manifest=None)
    checking = _Checking(root, manifest, list(findings), level)
    checking.describe(apart_from)
    checking.depend(allow_unknown=allow_unknown_dependencies)
    checking.lay_out()
    described = not has_errors(tuple(checking.findings))
    if results and checking.results_folder:
        from akbench_abv3.results.existing import check_results

        checking.findings.extend(check_results(root, checking.results_folder))
    if level == "1+t" and checking.results_folder:
        from akbench_abv3.results.existing import check_transcript_level

        secrets = checking.secrets_of(environment or {})
        found = check_transcript_level(root, checking.results_folder, checking.experiments, secrets)
        known = frozenset(checking.findings)
        checking.findings.extend(one for one in found if one not in known)
    return checking.checked(described=described)


class _Checking:
    """The stages of a check, each adding what it found to what the next one sees."""

    def __init__(self, root: Path, manifest: Manifest, findings: list[Finding], level: str) -> None:
        self.root, self.manifest, self.findings, self.level = root, manifest, findings, level
        self.dependencies: tuple[Dependency, ...] = ()
        self.experiments: tuple[Experiment, ...] = ()
        self.version: str | None = None
        self.version_source = ""
        self.results_folder: str | None = None
        self.git = GitFacts()

    def describe(self, apart_from: tuple[str, ...]) -> None:
        self._place_results()
        self.git = git_facts(self.root, apart_from=(*apart_from, self.results_folder or ""))
        if self.manifest.repo is not None:
            self._version(self.manifest.repo)
            self._logo(self.manifest.repo)
            self._tags(self.manifest.repo)
        self._command()

    def depend(self, *, allow_unknown: bool) -> None:
        self.dependencies, found = declared_dependencies(self.manifest.dependencies, allow_unknown=allow_unknown)
        already = {one.section for one in self.findings if one.code.startswith("E04")}
        # A field that is wrong in itself was reported; that it is then also missing would be noise.
        self.findings.extend(one for one in found if one.section not in already)

    def lay_out(self) -> None:
        if self.manifest.run_configs is None and self._is_wrong("run_configs"):
            return  # not a table: the default way would be a guess
        self.experiments, found = read_experiments(self.root, self.manifest.run_configs)
        self.findings.extend(found)

    def secrets_of(self, environment: Mapping[str, str]) -> dict[str, str]:
        wanted = secret_variables(self.dependencies)
        return {name: value for name, value in environment.items() if name in wanted}

    def checked(self, *, described: bool) -> Checked:
        return Checked(
            root=self.root,
            level=self.level,
            findings=tuple(sorted(self.findings, key=_group)),
            manifest=self.manifest,
            dependencies=self.dependencies,
            experiments=self.experiments,
            version=self.version,
            version_source=self.version_source,
            results_folder=self.results_folder or "",
            git=self.git,
            repository=self._accepted() if described else None,
        )

    def _version(self, repo: RepoSection) -> None:
        if repo.version is not None:
            self.version, self.version_source = repo.version, "agentbeats.toml"
        elif self._is_wrong("abv3_repo", "version"):
            return
        elif self.git.tag is None:
            self._add("E014", "abv3_repo", "version", "not declared and no Git tag found")
        else:
            self._version_of_tag()

    def _version_of_tag(self) -> None:
        tag = self.git.tag
        assert tag is not None
        self.version = tag.version
        beyond = f", HEAD is {tag.distance} further" if tag.distance else ""
        self.version_source = f"Git tag {tag.tag}{beyond}"
        if not tag.is_semantic:
            message = f"the nearest Git tag {tag.tag} is not a semantic version"
            self._add("W014", "abv3_repo", "version", message)

    def _logo(self, repo: RepoSection) -> None:
        logo = repo.logo_file
        if logo is None:
            if not self._is_wrong("abv3_repo", "logo_file"):
                self._add("W015", "abv3_repo", "logo_file", "not given")
        elif not _is_url(logo):
            self._logo_in_root(logo)

    def _logo_in_root(self, logo: str) -> None:
        try:
            path = contained(self.root, logo)
        except OutsideError as error:
            self._add("E004", "abv3_repo", "logo_file", str(error))
            return
        if not is_file(path):
            self._add("E015", "abv3_repo", "logo_file", f"{logo} does not exist")
        elif Path(logo).suffix.lower() not in LOGO_SUFFIXES:
            self._add("E015", "abv3_repo", "logo_file", f"{logo} is not one of {' '.join(LOGO_SUFFIXES)}")

    def _tags(self, repo: RepoSection) -> None:
        tags = repo.tags or []
        for tag in dict.fromkeys(tag for tag in tags if tags.count(tag) > 1):
            self._add("W016", "abv3_repo", "tags", f'"{tag}" is listed twice')

    def _command(self) -> None:
        command = self.manifest.run.command if self.manifest.run else None
        if command is None or self.manifest.run_configs is None:
            return
        if RUN_CONFIG_VARIABLE not in command:
            self._add("W022", "run", "command", "never mentions RUN_CONFIG_FILE")
        elif re.search(r"\s", str(self.root)) and _uses_unquoted(command):
            self._add("W023", "run", "command", 'the path has blanks: write "$RUN_CONFIG_FILE" in quotes')

    def _place_results(self) -> None:
        section = self.manifest.results
        if self._is_wrong("results"):
            return
        named = (section.folder if section else None) or DEFAULT_RESULTS_FOLDER
        try:
            folder = contained(self.root, named)
        except OutsideError as error:
            self._add("E004", "results", "folder", str(error))
            return
        is_git = folder.is_relative_to(self.root / ".git")
        if folder == self.root or is_git or (is_there(folder) and not is_folder(folder)):
            self._add("E060", "results", "folder", f"{named} cannot be the results folder")
        elif self._meets_configs(folder):
            self._add("E060", "results", "folder", f"{named} and the run-configs folder overlap")
        else:
            self.results_folder = folder.relative_to(self.root).as_posix()

    def _meets_configs(self, folder: Path) -> bool:
        section = self.manifest.run_configs
        if section is None or section.folder is None:
            return False
        configs = Path(os.path.realpath(self.root / section.folder.replace("\0", "")))
        if self.root not in configs.parents:
            return False  # outside the repository, and reported as such
        return folder == configs or folder in configs.parents or configs in folder.parents

    def _is_wrong(self, section: str, name: str | None = None) -> bool:
        errors = (one for one in self.findings if not one.code.startswith("W") and one.section == section)
        return any(name is None or one.field == name for one in errors)

    def _add(self, code: str, section: str, name: str, message: str) -> None:
        self.findings.append(Finding(code=code, section=section, field=name, message=message))

    def _accepted(self) -> Repository:
        repo, run, install = self.manifest.repo, self.manifest.run, self.manifest.install
        configs = self.manifest.run_configs
        assert repo is not None
        assert run is not None
        assert None not in (repo.name, repo.role, repo.author, self.version, run.command, self.results_folder)
        return Repository(
            root=self.root,
            name=repo.name or "",
            role=repo.role or "",
            author=repo.author or "",
            version=self.version or "",
            version_source=self.version_source,
            tags=tuple(repo.tags or ()),
            logo_file=repo.logo_file,
            run_command=run.command or "",
            run_timeout_seconds=run.timeout_seconds,
            install_command=install.command if install else None,
            install_timeout_seconds=install.timeout_seconds if install else None,
            dependencies=self.dependencies,
            experiments=self.experiments or (default_way(),),
            default_experiment=(configs.default_exp if configs else None) or DEFAULT_EXPERIMENT,
            results_folder=self.results_folder or "",
            git=self.git,
        )


def _group(finding: Finding) -> int:
    section = finding.section.partition(".")[0]
    return _GROUPS.index(section) if section in _GROUPS else 0


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _uses_unquoted(command: str) -> bool:
    quote = ""
    for position, character in enumerate(command):
        if character in "\"'" and quote in ("", character):
            quote = "" if quote else character
        elif character == "$" and not quote and _EXPANSION.match(command, position):
            return True
    return False
