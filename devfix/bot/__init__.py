"""Pull requests and suggestions: what ``devfix bot`` does on GitHub and GitLab."""
