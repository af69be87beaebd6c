"""A plain page that shows widgets of this process, as hosts of anywidget show a kernel's.

It knows nothing of Jupyter: the page loads the widget's own module and style sheet out of its
state, and gives it a model with what anywidget promises and no more. Messages go over HTTP on
loopback, where a kernel has its sockets; those of Python are told in their order, those of the
page are handled one after the other.
"""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlparse

import comm
from comm.base_comm import BaseComm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from anywidget import AnyWidget

_LONGEST_WAIT_S = 5.0

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A plain host</title>
<link rel="icon" href="data:,">
<body>
<main><h1>A plain host</h1><h2>A widget</h2><div id="place"></div></main>
<script type="module">
const listeners = new Map();
const values = new Map();
let changed = {};
let sent = Promise.resolve();
const address = `messages${location.search}`;
const post = data => {
  sent = sent.then(() => fetch(address, { method: 'POST', body: JSON.stringify(data) }));
};
const tell = (event, ...args) => {
  for (const listener of [...(listeners.get(event) ?? [])]) listener(...args);
};
const put = (name, value) => {
  if (JSON.stringify(values.get(name)) === JSON.stringify(value)) return false;
  values.set(name, value);
  tell(`change:${name}`, model, value);
  return true;
};
const model = {
  get: name => values.get(name),
  set: (name, value) => { if (put(name, value)) changed[name] = value; },
  save_changes: () => {
    post({ method: 'update', state: changed, buffer_paths: [] });
    changed = {};
  },
  send: content => { post({ method: 'custom', content }); },
  on: (event, listener) => {
    listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
  },
  off: (event, listener) => { listeners.get(event)?.delete(listener); }
};
window.model = model;
const viewOf = base64 =>
  new DataView(Uint8Array.from(atob(base64), letter => letter.charCodeAt(0)).buffer);
const show = async () => {
  const style = document.createElement('style');
  style.textContent = model.get('_css');
  document.head.append(style);
  const code = new Blob([model.get('_esm')], { type: 'text/javascript' });
  const module = await import(URL.createObjectURL(code));
  const widget = await module.default();
  await widget.initialize({ model });
  await widget.render({ model, el: document.querySelector('#place') });
};
const take = ({ kind, data, buffers }) => {
  if (kind === 'comm_open' || data.method === 'update') {
    for (const [name, value] of Object.entries(data.state)) put(name, value);
  } else if (data.method === 'custom') {
    tell('msg:custom', data.content, buffers.map(viewOf));
  }
  if (kind === 'comm_open') void show();
};
for (let first = 0; ; ) {
  const messages = await (await fetch(`${address}&first=${first}`)).json();
  messages.forEach(take);
  first += messages.length;
}
</script>
"""


class PlainHost:
    """Where widgets are shown that are made while it is served."""

    def __init__(self) -> None:
        self.url = ""
        """Address of its root, with a slash at the end; empty: it is not served yet."""
        self._comms: dict[str, _HostedComm] = {}
        self._told = threading.Condition()
        self._handling = threading.Lock()

    def address_of(self, widget: AnyWidget) -> str:
        """Return the address of the page that shows a widget."""
        return f"{self.url}?model={widget.model_id}"

    def open_comm(self, **options: Any) -> _HostedComm:  # noqa: ANN401  those of a BaseComm
        """Open the channel between a widget and its page."""
        opened = _HostedComm(self._told, **options)
        self._comms[opened.comm_id] = opened
        return opened

    def messages(self, model: str, first: int) -> Sequence[Mapping[str, Any]]:
        """Return what a widget told, from a number on; waits a while if there is nothing."""
        told = self._comms[model].told
        with self._told:
            self._told.wait_for(lambda: len(told) > first, _LONGEST_WAIT_S)
            return told[first:]

    def handle(self, model: str, data: Mapping[str, Any]) -> None:
        """Give a widget a message of its page."""
        with self._handling:
            self._comms[model].handle_msg({"content": {"data": data}, "buffers": []})


class _HostedComm(BaseComm):
    def __init__(self, condition: threading.Condition, **options: Any) -> None:  # noqa: ANN401  as above
        self.told: list[dict[str, Any]] = []
        self._condition = condition
        super().__init__(**options)

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,  # noqa: ARG002  its signature
        buffers: list[bytes] | None = None,
        **_keys: Any,  # noqa: ANN401  as above
    ) -> None:
        # as they are now: what was told may be changed later
        told = json.loads(json.dumps({"kind": msg_type, "data": data}, allow_nan=False))
        coded = [base64.b64encode(bytes(buffer)).decode() for buffer in buffers or ()]
        with self._condition:
            self.told.append({**told, "buffers": coded})
            self._condition.notify_all()


@contextlib.contextmanager
def plain_host() -> Iterator[PlainHost]:
    """Serve a plain host on loopback until the block ends. Widgets made in it can be shown."""
    host = PlainHost()

    class Handler(_Handler):
        shown_by = host

    create_comm = comm.create_comm
    comm.create_comm = host.open_comm  # what hosts do: it is made to be replaced
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        host.url = f"http://127.0.0.1:{server.server_address[1]}/"
        serving = threading.Thread(target=server.serve_forever, args=(0.05,))
        serving.start()
        try:
            yield host
        finally:
            comm.create_comm = create_comm
            server.shutdown()
            serving.join()


class _Handler(BaseHTTPRequestHandler):
    shown_by: PlainHost

    def do_GET(self) -> None:
        asked = urlparse(self.path)
        query = parse_qs(asked.query)
        if asked.path == "/":
            self._answer("text/html; charset=utf-8", _PAGE)
        elif asked.path == "/messages":
            told = self.shown_by.messages(query["model"][0], int(query["first"][0]))
            self._answer("application/json", json.dumps(told))
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        model = parse_qs(urlparse(self.path).query)["model"][0]
        self.shown_by.handle(model, json.loads(body))
        self._answer("application/json", "null")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401  its signature
        """Say nothing."""

    def _answer(self, kind: str, text: str) -> None:
        content = text.encode()
        with contextlib.suppress(ConnectionError):  # the page was closed meanwhile
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
