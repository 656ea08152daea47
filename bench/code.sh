#!/bin/sh
exec "$(dirname "$0")/stage.sh" code "$@"
