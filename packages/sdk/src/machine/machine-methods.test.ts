import { create } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { expect, test } from 'vitest';
import { callMethod, machineMethods } from './machine-methods.ts';
import type { Machine } from './open-machine.ts';

const methodNamed = (name: string) => {
  const found = machineMethods.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no method ${name}`);
  return found;
};

/** A machine that answers with its requests as `extra` or as ticks. */
function recorder(): { readonly machine: Machine; readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const client = () => ({
    async setPower(request: unknown) {
      asked.push(request);
      return create(MotorService.method.setPower.output);
    },
    async *streamTicks(request: unknown) {
      asked.push(request);
      for (const high of [true, false]) yield create(BoardService.method.streamTicks.output, { pinName: '1', high });
    },
  });
  return { machine: { client } as unknown as Machine, asked };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('JSON becomes a request with the name of the resource, and answers become JSON with every field', async () => {
  const { machine, asked } = recorder();
  const setPower = methodNamed('motor.SetPower');
  expect(await all(callMethod(machine, setPower, [{ power_pct: 0.5 }], { resource: 'left' }))).toEqual([{}]);
  expect(asked).toMatchObject([{ name: 'left', powerPct: 0.5 }]);
  const ticks = methodNamed('board.StreamTicks');
  expect(await all(callMethod(machine, ticks, [{ name: 'pins', pin_names: ['1'] }]))).toMatchObject([
    { pin_name: '1', high: true },
    { pin_name: '1', high: false },
  ]);
  expect([setPower.names({ name: 'left' }), setPower.names({})]).toEqual([true, false]);
});

test('the error for an invalid request lists the fields that exist', async () => {
  const { machine } = recorder();
  const refused = await all(callMethod(machine, methodNamed('motor.SetPower'), [{ power: 1 }])).catch(
    (caught: unknown) => caught,
  );
  expect(refused).toBeInstanceOf(PlatformError);
  expect((refused as Error).message).toMatch(/fields name: text, power_pct: number, .*found a mistake: .*"power"/);
});

test('every method has a unique name', () => {
  const names = machineMethods.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(150);
  expect(new Set(names).size).toBe(names.length);
});
