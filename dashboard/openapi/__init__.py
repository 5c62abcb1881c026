"""The interface for programs as OpenAPI: every route below /api/ (`operations.py`), what it takes (`schemas.py`), and the
document made of both by apispec (`document.py`). Why so: docs/decisions/openapi.md."""
