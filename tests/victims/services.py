"""Services on this machine for tests: they answer as they are told, and note what they were asked."""

import json
import threading
from collections import deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Clock:
    """Time that passes only by sleeping, which takes none."""

    def __init__(self):
        self.now, self.slept = 100.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


class Service:
    """Answers on a thread.

    answer: a function of the posted JSON; a KeyError or TypeError is the status 422. What it returns is JSON, or a
    function that writes to the handler. troubles: what is answered first, one a request: a status, a tuple of a
    status and headers, or a body. seen, headers: of the requests.
    """

    def __init__(self, answer):
        self.seen, self.headers, self.troubles = [], [], deque()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.seen.append(request)
                service.headers.append(self.headers)
                trouble = service.troubles.popleft() if service.troubles else None
                if trouble is not None:
                    found = trouble
                else:
                    try:
                        found = answer(request)
                    except (KeyError, TypeError) as error:
                        return send(self, f"field required: {error}", 422)
                if callable(found):
                    return found(self)
                if trouble is None:
                    return send(self, json.dumps(found))
                status, headers = found if isinstance(found, tuple) else (found, {})
                if isinstance(status, str):
                    return send(self, status)
                return send(self, f"trouble {status}", status, **headers)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/score"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def send(handler, body, status=200, reason=None, **headers):
    """Write an answer."""
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    handler.send_response(status, reason)
    for name, value in {**headers, "Content-Length": str(len(data))}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


@contextmanager
def serving(answer):
    service = Service(answer)
    try:
        yield service
    finally:
        service.close()
