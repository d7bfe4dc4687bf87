"""What an assessment needs: declared, found in what is at hand, and stored."""
