# Sourced by ./demo and ./check: brings everything the project needs below .akbench/ and .venv/.
# Defines UV, the uv command, and puts a working Codex CLI on PATH where npm can bring one.

CODEX_VERSION=0.171.0
UV_VERSION=0.13.9
TOOLS="$PWD/.akbench/tools"

# Where it is set, each of the many programs that the tests start would compile anew all that it imports.
unset PYTHONDONTWRITEBYTECODE

say() { printf '%s\n' "$*" >&2; }

find_python() {
    for candidate in python3.12 python3.13 python3.14 python3 python \
        "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[2-9]*/bin/python; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    say "Python 3.12 or newer is needed: install it, for instance with: pyenv install 3.12"
    exit 3
}

install_uv() {
    UV="$TOOLS/uv/bin/uv"
    [ -x "$UV" ] && return
    PYTHON=$(find_python) || exit 3
    say "installing uv $UV_VERSION"
    "$PYTHON" -m venv "$TOOLS/uv"
    "$TOOLS/uv/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$UV_VERSION"
}

install_workspace() {
    PYTHON=${PYTHON:-$(find_python)} || exit 3
    "$UV" sync --quiet --all-packages --python "$PYTHON"
}

install_codex() {
    CODEX="$TOOLS/codex/node_modules/.bin"
    if [ ! -e "$CODEX/codex" ]; then
        if ! command -v npm >/dev/null 2>&1; then
            say "npm is not here: the Codex CLI cannot be installed, and what needs it is left out"
            return
        fi
        say "installing the Codex CLI $CODEX_VERSION"
        mkdir -p "$TOOLS/codex"
        npm install --silent --no-package-lock --prefix "$TOOLS/codex" "@openai/codex@$CODEX_VERSION" >&2 ||
            { say "npm could not install the Codex CLI; what needs it is left out"; return; }
    fi
    PATH="$CODEX:$PATH"
    export PATH
}

install_uv
install_workspace
install_codex
