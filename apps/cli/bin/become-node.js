/**
 * Runs a Node with arguments in place of this process: same process where the system allows it, else as a child whose
 * signals and exit code are passed through. Plain JavaScript for any Node ≥ 20.
 */
import { spawn } from 'node:child_process';

/** For every process of ours: a small young generation, so that garbage is not kept as memory. The processes started by this one inherit it. */
export const thriftyFlags = ['--max-semi-space-size=1'];

/**
 * For glibc. Few arenas: it otherwise keeps one for each thread. Buffers of uploads and answers go back to the system when they are
 * freed: their holes make 150 MB while readings come in at full speed, for 4 % less of the processor.
 */
export const thriftyEnvironment = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
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
  // One process fewer stays in memory. Node ≥ 22.15 on Linux and macOS.
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(node.path, [node.path, ...args], env);
  }
  return new Promise((resolve) => {
    const child = spawn(node.path, args, { stdio: 'inherit', env });
    const pass = (signal) => child.kill(signal);
    for (const signal of passedSignals) process.on(signal, pass);
    child.once('error', (error) => {
      process.stderr.write(
        `platform: Node ${node.version} at ${node.path} does not start: ${error.message}; install Node 24 and set PLATFORM_NODE to it.\n`,
      );
      resolve(1);
    });
    child.once('exit', (code, signal) => resolve(signal ? 128 + signalNumber(signal) : (code ?? 1)));
  });
}

function signalNumber(signal) {
  return { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 }[signal] ?? 0;
}
