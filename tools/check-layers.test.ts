import { expect, test } from 'vitest';
import { circles } from './check-cycles.ts';
import { checkFile, cloudEdges } from './check-layers.ts';
import { importsOf } from './imports.ts';

test('imports are recognised in every form, but not in comments or strings', () => {
  const text = `
    import a from 'a'; import type { B } from './b.ts';
    import { type C, type D } from './c.ts'
    import {
      e,
      type F,
    } from './e.ts';
    import './side.ts'; export * from './all.ts';
    // import x from 'commented';
    /* import y from 'commented' */
    const text = "import z from 'quoted'"; const later = await import('./later.ts');
    export const word = 'x';`;
  expect(importsOf(text).map(({ specifier, typeOnly }) => [specifier, typeOnly])).toEqual([
    ['a', false],
    ['./b.ts', true],
    ['./c.ts', true],
    ['./e.ts', false],
    ['./side.ts', false],
    ['./all.ts', false],
    ['./later.ts', false],
  ]);
});

test.each([
  ['packages/query/src/a.ts', `import '@platform/rpc/client'`, 'query may not import rpc/client'],
  ['packages/sdk/src/a.ts', `import '@platform/rpc/server'`, 'only packages/sdk/src/module/ may import rpc/server'],
  ['packages/sdk/src/a.ts', `import './module/b.ts'`, 'only packages/sdk/src/module.ts may import from packages/sdk'],
  ['apps/cloud/src/ingest/a.ts', `import x from '../triggers/b.ts'`, 'ingest may not import triggers'],
  ['apps/cloud/src/access/a.ts', `import type { X } from '../accounts/b.ts'`, 'access may not import accounts'],
  ['apps/cloud/src/metadata/a.ts', `import x from '../tabular/b.ts'`, 'metadata may not import tabular'],
  ['apps/cloud/src/fresh/a.ts', `import x from '../access/b.ts'`, 'add a row to cloudEdges'],
  ['apps/cloud/src/ingest/a.ts', `import { x } from '../compose.ts'`, 'ingest may not import compose.ts'],
  ['apps/cloud/src/ingest/a.ts', `import { x } from '../compose-edge.ts'`, 'ingest may not import compose-edge.ts'],
  ['apps/cloud/src/ingest/a.ts', `import { x } from '../settings.ts'`, 'ingest may not import settings.ts'],
  ['apps/cloud/src/wire/a.ts', `import type { X } from '../ingest/b.ts'`, 'wire may not import ingest'],
  ['apps/cloud/src/ingest/store.ts', `import { x } from './rpc.ts'`, 'store.ts may not import rpc.ts'],
  ['apps/cloud/src/ingest/log/a.ts', `import { x } from '../rpc.ts'`, 'a.ts may not import rpc.ts'],
  ['apps/cloud/src/ingest/store.ts', `import { x } from './log/a.ts'`, 'store.ts may not import a.ts'],
  ['apps/cloud/src/ingest/a.ts', `import x from '../../../cli/src/b.ts'`, 'leaves the workspace'],
  ['packages/unknown/src/a.ts', `import 'x'`, 'no row in the import table'],
])('%s with %s is refused', (path, text, problem) => {
  expect(checkFile(path, text).join('\n')).toContain(problem);
});

test.each([
  ['packages/sdk/src/a.ts', `import '@platform/rpc/client'`],
  ['packages/sdk/src/module/a.ts', `import '@platform/rpc/server'`],
  ['packages/sdk/src/module.ts', `import './module/a.ts'`],
  ['packages/testkit/src/a.ts', `import '@platform/query'`],
  ['apps/cloud/src/compose.ts', `import { x } from './ingest/rpc.ts'`],
  ['apps/cloud/src/ingest/a.ts', `import type { S } from '../settings.ts'`],
  ['apps/cli/src/login/a.ts', `import { x } from '../settings.ts'`],
  ['apps/cloud/src/ingest/rpc.ts', `import { x } from './store.ts'`],
  ['apps/cloud/src/ingest/log/a.ts', `import { x } from '../store.ts'`],
  ['apps/cloud/src/ingest/a.ts', `import { x } from './log/b.ts'`],
  ['apps/cloud/src/triggers/a.ts', `import { x } from '../wire/b.ts'`],
  ['apps/cloud/src/ingest/a.test.ts', `import { x } from '@platform/testkit'`],
])('%s with %s passes', (path, text) => {
  expect(checkFile(path, text)).toEqual([]);
});

test('the features of the cloud have no dependency cycle', () => {
  expect(circles(new Map(Object.entries(cloudEdges)))).toEqual([]);
  expect(checkFile('apps/cloud/src/metadata/tables.ts', `import type { X } from '../tabular/store.ts'`)).toEqual([]);
  expect(checkFile('apps/cloud/src/binary/a.ts', `import x from '../text-rules/b.ts'`)).toEqual([]);
});
