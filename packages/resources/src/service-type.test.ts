import { create } from '@bufbuild/protobuf';
import { BoardService } from '@platform/proto/platform/component/board/v1/board';
import { GetPropertiesRequestSchema, MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { expect, test } from 'vitest';
import type { CaptureContext } from './resource-descriptor.ts';
import { type Board, board, type Motor, type MovementSensor, motor, movementSensor } from './types.ts';

const requests: unknown[] = [];
const turning = {
  getPosition: async (request: unknown) => {
    requests.push(request);
    return { position: 0 };
  },
  doCommand: async (command: object) => command,
  close: async () => {},
} as unknown as Motor;

const context: CaptureContext = {
  worldPose: () => expect.fail('no pose is asked for'),
  intervalMs: 1_000,
  signal: new AbortController().signal,
  memory: new Map(),
};

test('captures an answer with every field, named as in the .proto file, and tells the resource that data capture is calling', async () => {
  expect(await motor.captures['Position']?.read(turning, { gear: 2 }, context)).toEqual({ position: 0 });
  expect(requests).toMatchObject([{ extra: { gear: 2, fromDataManagement: true } }]);
  const moving = {
    getPosition: async () => ({ coordinate: { latitude: 48 }, altitudeM: 5 }),
  } as unknown as MovementSensor;
  expect(await movementSensor.captures['Position']?.read(moving, {}, context)).toEqual({
    coordinate: { latitude: 48, longitude: 0 },
    altitude_m: 5,
  });
  expect(Object.keys(movementSensor.captures)).toEqual(
    expect.arrayContaining(['Readings', 'DoCommand', 'Orientation']),
  );
});

test('a captured reader or pin of a board is recorded in additional_params', async () => {
  const reading = {
    readAnalogReader: async ({ analogReaderName }: { analogReaderName: string }) => ({
      value: analogReaderName === 'light' ? 7 : 0,
    }),
  } as unknown as Board;
  const analogs = board.captures['Analogs'];
  expect(await analogs?.read(reading, { reader_name: 'light' }, context)).toMatchObject({ value: 7, min_range: 0 });
  await expect(analogs?.read(reading, {}, context)).rejects.toThrow(
    'expected a name in additional_params.reader_name, found none',
  );
  expect(BoardService.method.readAnalogReader.input.fields.map(({ name }) => name)).toContain('board_name');
});

test('a resource is of a type if it has every method that models must have; a missing one answers UNIMPLEMENTED', async () => {
  expect(motor.implementedBy(turning)).toBe(false);
  const required = MotorService.methods.filter(({ localName }) => !/getGeometries|getStatus/.test(localName));
  const whole = { ...Object.fromEntries(required.map(({ localName }) => [localName, async () => ({})])), close() {} };
  expect(motor.implementedBy(whole as unknown as Motor)).toBe(true);
  const call = { signal: new AbortController().signal };
  const request = create(GetPropertiesRequestSchema);
  await expect(motor.methods.getProperties?.(turning, request, call)).rejects.toMatchObject({ code: 'unimplemented' });
  expect(await motor.methods.getGeometries?.(turning, request as never, call)).toEqual({ geometries: [] });
});
