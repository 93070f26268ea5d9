import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { ArmService } from '@platform/proto/platform/component/arm/v1/arm';
import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { expect, test } from 'vitest';
import { numberFieldsOf, requireFinite } from './finite-numbers.ts';

/** The message for a request; empty if nothing is wrong with it. */
function told<D extends DescMessage>(type: D, request: MessageInitShape<D>): string {
  try {
    requireFinite(type, create(type, request));
    return '';
  } catch (caught) {
    return (caught as Error).message;
  }
}

test('a number that is not finite is reported with its path, at any depth of a request', () => {
  const { setPower, goFor, resetZeroPosition } = MotorService.method;
  expect(told(setPower.input, { powerPct: Number.NaN })).toBe('power_pct: expected a finite number, found NaN');
  expect(told(goFor.input, { rpm: 10, revolutions: Number.POSITIVE_INFINITY })).toMatch(/^revolutions: .* Infinity$/);
  expect(told(resetZeroPosition.input, { offset: Number.NEGATIVE_INFINITY })).toMatch(/^offset: .* found -Infinity$/);
  expect(told(BaseService.method.setVelocity.input, { angular: { z: Number.NaN } })).toMatch(/^angular\.z: /);
  const through = { positions: [{ values: [1] }, { values: [0, Number.NaN] }] };
  expect(told(ArmService.method.moveThroughJointPositions.input, through)).toMatch(/^positions\[1\]\.values\[1\]: /);
  const points = [{}, { positions: { values: [Number.NaN] } }];
  const streamed = { message: { case: 'batch', value: { points } } } as const;
  expect(told(ArmService.method.moveThroughJointPositionsStreamed.input, streamed)).toMatch(
    /^batch\.points\[1\]\.positions\.values\[0\]: /,
  );
});

test('every finite number passes, and so do numbers in free-form JSON', () => {
  for (const powerPct of [0, -0, 1, -1e308, 5e-324])
    expect(told(MotorService.method.setPower.input, { powerPct })).toBe('');
  expect(told(BaseService.method.setVelocity.input, { linear: { x: 1 }, extra: { n: 1 } })).toBe('');
  expect(numberFieldsOf(SensorService.method.getReadings.input)).toEqual([]);
  expect(numberFieldsOf(SensorService.method.doCommand.input)).toEqual([]);
});
