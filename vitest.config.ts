import { defineConfig } from 'vitest/config';

// Tests run from source, so packages resolve to their sources; servers that tests need are started by the tests.
export default defineConfig({
  ssr: { resolve: { conditions: ['@platform/source', 'node'] } },
  resolve: { conditions: ['@platform/source', 'node'] },
  test: {
    include: ['{apps,packages,tools}/**/*.test.ts', 'conformance/**/*.test.ts', 'bench/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    execArgv: ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'],
    maxWorkers: 2,
  },
});
