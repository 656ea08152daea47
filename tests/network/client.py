"""Runs inside a sandbox: raw words to the proxy, because no honest client would say them. Prints one JSON value."""
import json
import socket
import ssl
import sys

PROXY = ("127.0.0.1", 3128)


def connect():
    return socket.create_connection(PROXY, 20)


def receive_all(sock):
    data = b""
    try:
        while part := sock.recv(65536):
            data += part
    except OSError as error:
        data += f"<{type(error).__name__}>".encode()
    return data


def raw(texts):
    """For each text: what the proxy answers until it closes."""
    answers = []
    for text in texts:
        sock = connect()
        sock.sendall(text.encode("latin-1"))
        sock.shutdown(socket.SHUT_WR)
        answers.append(receive_all(sock).decode("latin-1"))
        sock.close()
    return answers


def read_head(sock):
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        part = sock.recv(1)
        if not part:
            break
        data += part
    return data.decode("latin-1")


def tunnel(host, port, transport="connect"):
    sock = connect()
    if transport == "connect":
        sock.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        head = read_head(sock)
        return sock, head.split("\r\n")[0]
    sock.sendall(b"\x05\x01\x00")
    sock.recv(2)
    sock.sendall(b"\x05\x01\x00\x03" + bytes([len(host)]) + host.encode() + port.to_bytes(2, "big"))
    return sock, f"reply {sock.recv(10)[1]}"


def status(targets):
    """The proxy's answer to a wish for a tunnel."""
    return [tunnel(*target)[1] for target in targets]


def tls(cases):
    """[host, server name or null] → what came of it."""
    results = []
    for host, name in cases:
        sock, answer = tunnel(host, 443)
        if " 200 " not in answer:
            results.append(answer)
            continue
        context = ssl.create_default_context(cafile="/tmp/test/ca.pem")
        context.check_hostname = False
        try:
            with context.wrap_socket(sock, server_hostname=name) as secure:
                secure.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
                results.append(secure.recv(65536).decode().split("\r\n")[0])
        except ssl.SSLError as error:
            results.append(error.reason)
        except OSError as error:
            results.append(type(error).__name__)
    return results


def through(host, port, transport, text):
    """What a tunnel gives back to these words."""
    sock, answer = tunnel(host, port, transport)
    sock.sendall(text.encode("latin-1"))
    sock.shutdown(socket.SHUT_WR)
    return [answer, receive_all(sock).decode("latin-1")]


def direct(targets):
    """Connecting past the proxy: the error, or "connected"."""
    results = []
    for family, kind, address, port in targets:
        try:
            sock = socket.socket(getattr(socket, family), getattr(socket, kind))
            sock.settimeout(3)
            sock.connect((address, port))
            sock.send(b"x")
            results.append("connected")
        except OSError as error:
            results.append(type(error).__name__)
    return results


def socks(bodies):
    """Raw SOCKS requests after the greeting: the reply code, or null."""
    results = []
    for body in bodies:
        sock = connect()
        sock.sendall(b"\x05\x01\x00")
        sock.recv(2)
        sock.sendall(body.encode("latin-1"))
        reply = sock.recv(10)
        results.append(reply[1] if len(reply) > 1 else None)
        sock.close()
    return results


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*json.loads(sys.argv[2]))))
