import { expect, test } from 'vitest';
import { opensStore, postgresTests, testStore } from './postgres-tests.ts';

test('a test file that loads the store for tests, through other code for tests, runs on Postgres, unless it chooses its stores', () => {
  const texts: Record<string, string> = {
    [testStore]: "import { Pool } from 'pg';",
    'apps/cloud/src/a/testing/open.ts': "import { openTestStore } from '../../metadata/testing/test-store.ts';",
    'apps/cloud/src/a/opens.test.ts': "import { open } from './testing/open.ts';",
    'apps/cloud/src/a/types.test.ts': "import type { Opened } from './testing/open.ts';",
    'apps/cloud/src/a/pure.test.ts': "import { pure } from './pure.ts';",
    'apps/cloud/src/a/both.test.ts': "import { storeKinds } from '../metadata/testing/test-store.ts';",
  };
  const tests = Object.keys(texts).filter((path) => path.endsWith('.test.ts'));
  expect(opensStore(tests, (path) => texts[path] ?? '')).toEqual(['apps/cloud/src/a/opens.test.ts']);
});

test('the tests of the features are found', () => {
  const found = postgresTests();
  expect(found).toContain('apps/cloud/src/access/audit.test.ts');
  expect(found).not.toContain('apps/cloud/src/outbox/webhook/target-guard.test.ts');
});
