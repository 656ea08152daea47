// Real work under the filter: nothing that ordinary programs need may be missing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "sandbox/native/filter.h"
#include "sys/seccomp_child.h"

namespace cordon::sandbox::native {
namespace {

struct Work {
  const char* name;
  const char* needs;  // a program; without it the test is skipped
  const char* script;
};

const Work works[] = {
    {"Bash", "bash",
     "set -e; cat <(echo a) <(echo b); coproc cat; echo hi >&\"${COPROC[1]}\"; read -r line <&\"${COPROC[0]}\"; "
     "test \"$line\" = hi; kill $COPROC_PID; wait $COPROC_PID || true; sleep 0.01 & wait $!; trap 'true' USR1; kill "
     "-USR1 $$; "
     "ulimit -c 0; mkfifo f; (echo x >f) & read -r y <f; test $y = x"},
    {"CoreUtilities", "sh",
     "set -e; mkdir -p a/b; echo x >a/b/c; cp -a a d; mv d e; ln e/b/c h; ln -s e s; touch -d yesterday h; chmod 750 "
     "e; chmod +t e; "
     "find . -type f -print0 | xargs -0 sha256sum >sums; tar cJf t.xz e; tar tJf t.xz >list; dd if=/dev/zero of=z "
     "bs=64k count=8 2>log; "
     "truncate -s 1M z; sort sums | uniq | wc -l; timeout 5 true; nice true; df . >log; stat -f . >log; ps >log; id "
     ">log; date >log; "
     "sync -f z; fallocate -l 4096 z; flock z true; split -b 100k z; cmp z z; tail -n1 sums; mktemp -p .; rm -r e"},
    {"CompilerAndMake", "make",
     "set -e; printf '#include <stdio.h>\\n#include <pthread.h>\\nstatic void*f(void*p){return p;}\\nint "
     "main(void){pthread_t t;"
     "if(pthread_create(&t,0,f,0))return 1;pthread_join(t,0);puts(\"ok\");return 0;}\\n' >m.c; "
     "printf 'm: m.c\\n\\tcc -O2 -pthread -flto -o m m.c\\n' >Makefile; make -j2 >log; test \"$(./m)\" = ok"},
    {"Cplusplus", "g++",
     "set -e; printf '#include <thread>\\n#include <filesystem>\\n#include <iostream>\\nint main(){std::thread "
     "t([]{});t.join();"
     "std::filesystem::create_directory(\"q\");std::cout<<\"ok\";}' >m.cc; g++ -std=c++20 -fsanitize=address,undefined "
     "m.cc -o m; "
     "ASAN_OPTIONS=detect_leaks=0 ./m"},
    {"CMakeAndNinja", "ninja",
     "set -e; printf 'cmake_minimum_required(VERSION 3.20)\\nproject(p C)\\nadd_executable(m m.c)\\n' >CMakeLists.txt; "
     "echo 'int main(){}' >m.c; "
     "cmake -G Ninja -B b . >log; cmake --build b >log; b/m"},
    {"Python", "python3",
     "set -e; python3 -c '\n"
     "import asyncio,concurrent.futures as c,ctypes,mmap,multiprocessing as "
     "m,os,signal,socket,sqlite3,subprocess,tempfile,threading,time\n"
     "assert m.get_context(\"fork\").Pool(2).map(abs,[-1,2])==[1,2]\n"
     "assert m.get_context(\"spawn\").Process(target=print).start() is None\n"
     "assert subprocess.run([\"true\"]).returncode==0\n"
     "assert subprocess.run(\"cat\",input=b\"x\",capture_output=True).stdout==b\"x\"\n"
     "list(c.ThreadPoolExecutor(4).map(abs,range(9)))\n"
     "d=sqlite3.connect(\"d.db\");d.execute(\"pragma journal_mode=wal\");d.execute(\"create table t(a)\");d.commit()\n"
     "async def f():\n"
     " p=await asyncio.create_subprocess_exec(\"true\");await p.wait();await asyncio.sleep(0.01)\n"
     "asyncio.run(f())\n"
     "s=socket.socket();s.bind((\"127.0.0.1\",0));s.listen()\n"
     "a=socket.socketpair();a[0].send(b\"x\");assert a[1].recv(1)==b\"x\"\n"
     "u=socket.socket(socket.AF_UNIX);u.bind(\"u\")\n"
     "os.memfd_create(\"x\");os.pidfd_open(os.getpid());os.sched_getaffinity(0);os.urandom(8);os.getloadavg()\n"
     "mmap.mmap(-1,4096);tempfile.TemporaryFile().write(b\"x\");time.sleep(0.001);signal.setitimer(signal.ITIMER_REAL,"
     "9)\n"
     "'"},
    {"PythonPseudoTerminal", "python3", "python3 -c 'import pty;pty.spawn([\"true\"])' </dev/null"},
    {"Numpy", "/usr/bin/python3",
     "/usr/bin/python3 -c 'import numpy' 2>log || exit 77; /usr/bin/python3 -c '\nimport numpy as "
     "n\na=n.random.rand(300,300)\nassert n.allclose(a@n.linalg.inv(a),n.eye(300),atol=1e-5)\n'"},
    {"Node", "node",
     "set -e; node -e '\n"
     "const "
     "cp=require(\"child_process\"),fs=require(\"fs\"),http=require(\"http\"),{Worker}=require(\"worker_threads\");\n"
     "cp.execSync(\"true\");fs.writeFileSync(\"f\",\"x\");fs.watch(\".\").close();\n"
     "new Worker(\"1\",{eval:true}).on(\"exit\",()=>{\n"
     " const "
     "s=http.createServer((q,r)=>r.end(\"ok\"));s.listen(\"./sock\",()=>http.get({socketPath:\"./"
     "sock\"},r=>{r.resume();r.on(\"end\",()=>s.close())}));\n"
     " fs.promises.readFile(\"f\").then(()=>cp.fork(\"-e\",[\"0\"]));\n"
     "});'"},
    {"Npm", "npm",
     "set -e; export HOME=$PWD; printf '{\"name\":\"p\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node --test\"}}' "
     ">package.json; "
     "printf 'require(\"node:test\")(\"x\",()=>{})' >a.test.js; npm test >log"},
    {"Git", "git",
     "set -e; export HOME=$PWD; git init -q r; cd r; git config user.email a@b; git config user.name a; seq 1000 >f; "
     "git add f; git commit -qm x; "
     "git gc -q; git clone -q . ../c; git worktree add -q ../w; git stash list; git log --oneline >../log; git fsck "
     ">../log 2>&1; git rebase -q HEAD"},
    {"Perl", "perl",
     "perl -MPOSIX -MSocket -e 'fork//die; wait; socketpair(A,B,AF_UNIX,SOCK_STREAM,0)||die; "
     "system(\"true\")==0||die'"},
    {"Java", "javac",
     "set -e; printf 'import java.util.stream.*;public class M{public static void main(String[] a)throws Exception{"
     "System.out.println(IntStream.range(0,9999).parallel().sum());new ProcessBuilder(\"true\").start().waitFor();"
     "new java.net.ServerSocket(0).close();}}' >M.java; javac M.java; java M >log; java -XX:+UseParallelGC M >log"},
    {"Go", "go",
     "set -e; export HOME=$PWD GOCACHE=$PWD/cache GOFLAGS=-mod=mod GOTOOLCHAIN=local; mkdir s; cd s; go mod init "
     "example/m 2>log; "
     "printf 'package main\\nimport (\"net\";\"os/exec\";\"time\")\\nfunc "
     "main(){l,e:=net.Listen(\"tcp\",\"127.0.0.1:0\");if e!=nil{panic(e)};l.Close();"
     "if e:=exec.Command(\"true\").Run();e!=nil{panic(e)};c:=make(chan int);for i:=0;i<50;i++{go "
     "func(){time.Sleep(time.Millisecond);c<-1}()};"
     "for i:=0;i<50;i++{<-c}}' >m.go; go build -o m .; ./m"},
    {"Rust", "rustc",
     "set -e; printf 'use std::thread;fn "
     "main(){thread::spawn(||{}).join().unwrap();std::process::Command::new(\"true\").status().unwrap();"
     "std::net::TcpListener::bind(\"127.0.0.1:0\").unwrap();}' >m.rs; rustc --version >log 2>&1 || exit 77; rustc -O "
     "m.rs; ./m"},
    {"Ruby", "ruby",
     "ruby -rsocket -ropen3 -e 'Thread.new{}.join; Open3.capture2(\"cat\",stdin_data:\"x\"); UNIXSocket.pair; fork{}; "
     "Process.wait'"},
    {"OpenSslAndSsh", "openssl",
     "set -e; openssl genpkey -algorithm ed25519 -out k; openssl req -x509 -key k -subj /CN=x -out c; ssh-keygen -q -t "
     "ed25519 -N '' -f s || true"},
    {"TerminalRecorder", "script", "script -qec 'tty; stty -a' log </dev/null >/dev/null"},
};

bool have(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// The script's exit status; what it printed, if it failed.
sys::ChildReport under_filter(const FilterOptions& options, const char* script) {
  const auto program = payload_filter(options);
  char directory[] = "/tmp/cordon-work-XXXXXX";
  if (::mkdtemp(directory) == nullptr) return {-1, "no directory"};
  auto report = sys::in_child([&]() -> std::string {
    const int output = ::open((std::string(directory) + "/output").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(output, 1);
      ::dup2(output, 2);
      if (::chdir(directory) == 0 && sys::install_filter(program))
        ::execlp("timeout", "timeout", "60", "bash", "-c", script, nullptr);
      ::_exit(126);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    char printed[3000];
    const ssize_t length = ::pread(output, printed, sizeof printed, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return "skip";
    if (status == 0) return "";
    return fmt::format("status {:#x}\n{}", status,
                       std::string(printed, static_cast<std::size_t>(std::max<ssize_t>(length, 0))));
  });
  std::filesystem::remove_all(directory);
  return report;
}

class WorkUnderFilter : public testing::TestWithParam<Work> {};

TEST_P(WorkUnderFilter, Runs) {
  if (!have(GetParam().needs)) GTEST_SKIP() << GetParam().needs << " is not installed";
  const auto report = under_filter(FilterOptions::namespaced(), GetParam().script);
  if (report.text == "skip") GTEST_SKIP() << "a part that it needs is not installed";
  EXPECT_EQ(report, (sys::ChildReport{0, ""}));
}

INSTANTIATE_TEST_SUITE_P(Of, WorkUnderFilter, testing::ValuesIn(works),
                         [](const auto& tested) { return tested.param.name; });

TEST(DebuggerUnderFilter, WorksOnlyWhereItIsAllowed) {
  if (!have("gdb")) GTEST_SKIP() << "gdb is not installed";
  const char* script = "gdb -batch -ex run -ex 'print 41+1' /bin/true 2>&1 | grep -q 'exited normally'";
  EXPECT_EQ(under_filter(FilterOptions::namespaced().with(AllowPtrace{}), script), (sys::ChildReport{0, ""}));
  EXPECT_NE(under_filter(FilterOptions::namespaced(), script).text, "");
}

}  // namespace
}  // namespace cordon::sandbox::native
