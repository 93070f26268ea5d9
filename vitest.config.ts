import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { longLane, longTests } from './tools/long-tests.ts';
import { missingProgramsVariable } from './tools/missing-programs-variable.ts';
import { postgresTests } from './tools/postgres-tests.ts';

// Tests run from source, so packages resolve to their sources. Tests start the servers that they need.
export default defineConfig({
  // For what vitest reads itself, to tell which tests a change affects.
  ssr: { resolve: { conditions: ['@platform/source', 'node'] } },
  resolve: { conditions: ['@platform/source', 'node'] },
  test: {
    // Node loads the sources itself, as it does in development: a tenth less processor time than through transformed modules.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Far longer than any test takes: these limits only end hung tests. On a busy machine, events may be late; tests check that they occur.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What is polled is often a call to a process, so not as often as the default, every 50 ms.
    expect: { poll: { timeout: 240_000, interval: 100 } },
    // Random cases differ at each run; a failure names its seed, and FAULT_SEED repeats it.
    setupFiles: [
      ...(process.env['FAULT_SEED'] === undefined ? [] : ['packages/testkit/src/repeat-properties.ts']),
      ...(process.env[missingProgramsVariable] === undefined ? [] : ['tools/fail-without-programs.ts']),
    ],
    pool: 'forks',
    // Files share the modules of their worker: importing them anew for each takes 40 % of the processor time of the tests of packages, tools
    // and the command line. So a test undoes what it changes in a module or in the process.
    isolate: false,
    // For the processes that tests start, which otherwise compile all their modules: 10 to 30 % less processor time for tests that start clouds.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile-tests', import.meta.url)) },
    execArgv: ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'],
    // Two more than two cores: tests wait for processes and timers for a quarter of their time.
    maxWorkers: 4,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: [
            ...['{apps,packages,tools}/**/*.test.ts', 'conformance/**/*.test.ts', 'bench/**/*.test.ts'],
            // Long tests that only `npm run fault` runs.
            ...(process.env['FAULT_REPORT'] === undefined ? [] : ['conformance/**/*.fault.ts']),
          ],
          exclude: [...configDefaults.exclude, longTests],
        },
      },
      { extends: true, test: { name: longLane, include: [longTests] } },
      // Tests that open a store, of features with state in the metadata, run on the other store, too.
      {
        extends: true,
        test: {
          name: 'postgres',
          include: postgresTests(),
          setupFiles: ['apps/cloud/src/metadata/testing/require-default-store.ts'],
          env: { PLATFORM_TEST_STORE: 'postgres' },
          globalSetup: ['packages/testkit/src/start-postgres-for-run.ts'],
        },
      },
    ],
  },
});
