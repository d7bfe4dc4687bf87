"""Descriptors: versioned YAML files that say what a thing is and can do, validated where they enter."""
