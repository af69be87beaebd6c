"""What a trainer sends of a loader, and how a data server opens it."""
