# SPDX-License-Identifier: MIT
"""A server with its client in another thread; it ends after some requests."""
import http.server
import threading
import urllib.request

REQUESTS = 300


def render(name):
    text = ""
    for number in range(9000):
        text += chr(97 + (number * 7 + len(name)) % 26)
    return text


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = render(self.path).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def ask(port):
    for number in range(REQUESTS):
        urllib.request.urlopen("http://127.0.0.1:%d/%d" % (port, number)).read()


server = http.server.HTTPServer(("127.0.0.1", 0), Pages)
client = threading.Thread(target=ask, args=(server.server_port,))
client.start()
for _ in range(REQUESTS):
    server.handle_request()
client.join()
