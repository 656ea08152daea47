# Runs code in an interpreter as if it were a script: `-c BOOT PATH ARG…`, or `-c BOOT --wait`, where what to run comes
# over descriptor 3 once the interpreter is up.
import sys


def _boot():
    import os

    def receive(stream):
        header = stream.read(5)
        if len(header) != 5:
            os._exit(0)
        return stream.read(int.from_bytes(header[1:], 'little'))

    def save_figures():
        pyplot = sys.modules.get('matplotlib.pyplot')
        folder = os.environ.get('CORDON_OUTPUT')
        if pyplot is None or folder is None:
            return
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            # One that was drawn has been saved by the code itself.
            if not figure.stale:
                continue
            path, tries = os.path.join(folder, 'figure-%d.png' % number), 1
            while os.path.exists(path):
                tries += 1
                path = os.path.join(folder, 'figure-%d-%d.png' % (number, tries))
            figure.savefig(path)
        pyplot.close('all')

    def show_traceback(kind, value, trace, name, text):
        import linecache
        import traceback
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        while trace is not None and trace.tb_frame.f_code.co_filename == '<string>':
            trace = trace.tb_next
        traceback.print_exception(kind, value, trace)
        sys.stderr.flush()

    def exit_code(value):
        if value.code is None:
            return 0
        if isinstance(value.code, int):
            return value.code & 0xff
        print(value.code, file=sys.stderr)
        return 1

    def run(name, text, namespace):
        try:
            exec(compile(text, name, 'exec', dont_inherit=True), namespace)
            save_figures()
            return 0
        except SystemExit as stop:
            save_figures()
            return exit_code(stop)
        except BaseException:
            show_traceback(*sys.exc_info(), name, text)
            return 1
        finally:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except Exception:
                    pass

    def make_main(name):
        module = type(sys)('__main__')
        module.__builtins__ = __builtins__
        module.__file__ = name
        sys.modules['__main__'] = module
        return module.__dict__

    def leave(code, namespace):
        # What a script's end means to its code: threads are waited for, exit functions run, globals are finalised. Taking
        # the whole interpreter apart after that would only take time.
        import atexit
        import gc
        threading = sys.modules.get('threading')
        try:
            if threading is not None:
                threading._shutdown()
            atexit._run_exitfuncs()
            namespace.clear()
            gc.collect()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    sys.stdout.reconfigure(line_buffering=True)
    os.environ.setdefault('MPLBACKEND', 'Agg')
    if sys.argv[1:2] != ['--wait']:
        path = sys.argv[1]
        name = os.path.basename(path)
        with open(path, encoding='utf-8', errors='surrogateescape', newline='') as file:
            text = file.read()
        sys.argv = [name] + sys.argv[2:]
        sys.path.insert(0, os.getcwd())
        sys.exit(run(name, text, make_main(name)))

    import gc
    import select
    import signal
    # While nobody waits, what most code needs is loaded.
    for module in ('re', 'json', 'math', 'collections', 'datetime', 'random', 'traceback'):
        if select.select([3], [], [], 0)[0]:
            break
        __import__(module)
    else:
        gc.collect()
        gc.freeze()
    channel = os.fdopen(3, 'r+b', buffering=0)
    os.set_inheritable(3, False)

    class Whole:
        def read(self, count):
            parts = b''
            while len(parts) < count:
                part = channel.read(count - len(parts))
                if not part:
                    break
                parts += part
            return parts

    namespace = None
    os.write(3, b'R')
    while True:
        stream = Whole()
        name = receive(stream).decode()
        text = receive(stream).decode('utf-8', 'surrogateescape')
        folder = receive(stream).decode()
        stays = receive(stream) == b'stay'
        count = int(receive(stream))
        sys.argv = [name] + [receive(stream).decode('utf-8', 'surrogateescape') for _ in range(count)]
        os.chdir(folder)
        if namespace is None:
            sys.path.insert(0, folder)
            namespace = make_main(name)
        if stays:
            # Only code is interrupted, never the waiting for it.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            code = run(name, text, namespace)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.write(3, bytes([code]))
        else:
            channel.close()
            leave(run(name, text, namespace), namespace)


_boot()
