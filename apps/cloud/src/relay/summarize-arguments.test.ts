import { create } from '@bufbuild/protobuf';
import { DoCommandRequestSchema } from '@platform/proto/platform/common/v1/common';
import { SetPowerRequestSchema } from '@platform/proto/platform/component/motor/v1/motor';
import { expect, test } from 'vitest';
import { summarizeArguments } from './summarize-arguments.ts';

test('a summary is JSON with the fields of the request', () => {
  expect(summarizeArguments(create(SetPowerRequestSchema, { name: 'left', powerPct: 0.5 }))).toBe(
    '{"name":"left","powerPct":0.5}',
  );
});

test('a summary has at most 1 KiB, whatever the request has, and reads only the beginning of it', () => {
  let read = 0;
  const values = new Proxy(
    Array.from({ length: 100_000 }, () => 'x'.repeat(1_000)),
    {
      get(target, key) {
        read += 1;
        return Reflect.get(target, key);
      },
    },
  );
  const request = Object.assign(create(DoCommandRequestSchema, { name: 'arm' }), {
    bytes: Buffer.alloc(1_000_000),
    big: 7n,
    values,
  });
  const summary = summarizeArguments(request);
  expect(summary).toHaveLength(1_024);
  expect(summary).toMatch(/^\{"name":"arm","bytes":"\(1000000 bytes\)","big":"7","values":\["x+…"/);
  expect(read).toBeLessThan(100);
});
