import { create } from '@bufbuild/protobuf';
import { DoCommandRequestSchema } from '@platform/proto/platform/common/v1/common';
import { WriteAnalogRequestSchema } from '@platform/proto/platform/component/board/v1/board';
import { GoToRequestSchema, SetPowerRequestSchema } from '@platform/proto/platform/component/motor/v1/motor';
import { MoveRequestSchema } from '@platform/proto/platform/service/motion/v1/motion';
import { CopyFilesToMachineRequestSchema } from '@platform/proto/platform/service/shell/v1/shell';
import { expect, test } from 'vitest';
import { argumentsOf } from './call-arguments.ts';

test('arguments have the names of the .proto file; zeros are there, empty texts are not', () => {
  expect(
    argumentsOf(SetPowerRequestSchema, create(SetPowerRequestSchema, { name: 'left', extra: { slow: [true, null] } })),
  ).toBe('{"name":"left","power_pct":0,"extra":{"slow":[true,null]}}');
  expect(argumentsOf(GoToRequestSchema, create(GoToRequestSchema, { rpm: Number.NaN }))).toBe(
    '{"rpm":"NaN","position_revolutions":0}',
  );
  expect(argumentsOf(WriteAnalogRequestSchema, create(WriteAnalogRequestSchema, { pin: '8', value: 5 }))).toBe(
    '{"pin":"8","value":5}',
  );
  const destination = { referenceFrame: 'world', pose: { x: 1 } };
  expect(JSON.parse(argumentsOf(MoveRequestSchema, create(MoveRequestSchema, { destination })))).toMatchObject({
    destination: { reference_frame: 'world', pose: { x: 1, y: 0 } },
  });
});

test('bytes are omitted', () => {
  const fileData = { name: 'a.txt', data: new Uint8Array(9), size: 9n, eof: true };
  const text = argumentsOf(
    CopyFilesToMachineRequestSchema,
    create(CopyFilesToMachineRequestSchema, { request: { case: 'fileData', value: { fileData } } as never }),
  );
  expect(text).not.toContain('data":"');
});

test('however large a request is, about a kilobyte of it is looked at', () => {
  const large = {
    ...{ text: 'x'.repeat(1_000_000), list: Array(100_000).fill(1) },
    keys: Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`key ${n}`, n])),
    deep: JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`),
    lone: '\ud800',
  };
  for (const [key, value] of Object.entries(large)) {
    const text = argumentsOf(
      DoCommandRequestSchema,
      create(DoCommandRequestSchema, { name: 'n', command: { [key]: value } }),
    );
    expect(text.length).toBeLessThan(3_000);
    expect(text.isWellFormed()).toBe(true);
    if (key !== 'lone') expect(text).toContain('…');
    expect(JSON.parse(text)).toMatchObject({ name: 'n' });
  }
});
