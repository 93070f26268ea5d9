/**
 * Runs a Node with arguments in place of this process: it replaces this process where the system allows that, and is otherwise a child
 * to which signals are passed on and whose exit code becomes ours. Plain JavaScript for any Node ≥ 20.
 */
import { spawn } from 'node:child_process';

/**
 * A small young generation for each of our processes, so that garbage does not stay in memory, and one helper thread of V8 instead of
 * four, which a small collection would all wake (ADR-0033). Child processes inherit them.
 */
export const thriftyFlags = ['--max-semi-space-size=1', '--v8-pool-size=1'];

/**
 * For glibc. Few arenas, because it otherwise keeps one for each thread. Buffers from 16 KiB on (uploads, answers, what sockets are read
 * into, compiled code from the cache) return to the system when they are freed: the holes that they leave otherwise take 50 to 150 MB at
 * full ingest speed, and 4 MB of an idle machine-server. This costs 5 % more CPU time (ADR-0033).
 */
export const thriftyEnvironment = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '16384',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

const passedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @param {{ path: string, version: string }} node
 * @param {string[]} args
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<number>} exit code; never returns where the process was replaced
 */
export function becomeNode(node, args, env) {
  // Keeps one process fewer in memory. Node ≥ 22.15 on Linux and macOS.
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(node.path, [node.path, ...args], env);
  }
  return new Promise((resolve) => {
    const child = spawn(node.path, args, { stdio: 'inherit', env });
    const pass = (signal) => child.kill(signal);
    for (const signal of passedSignals) process.on(signal, pass);
    child.once('error', (error) => {
      process.stderr.write(
        `platform: Node ${node.version} at ${node.path} does not start: ${error.message}. Install Node 24 and set PLATFORM_NODE to its path.\n`,
      );
      resolve(1);
    });
    child.once('exit', (code, signal) => resolve(signal ? 128 + signalNumber(signal) : (code ?? 1)));
  });
}

function signalNumber(signal) {
  return { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }[signal] ?? 0;
}
