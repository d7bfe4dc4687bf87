"""What an agent did on its way, held against a list of rules; reported beside the verdict, which it never changes."""
