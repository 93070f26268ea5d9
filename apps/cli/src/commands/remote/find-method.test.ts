import { machineMethods } from '@platform/sdk/machine';
import { expect, test } from 'vitest';
import { findMethod, isOfModule, methodLines } from './find-method.ts';

test('a method is found by its short name in any spelling, and by its full name', () => {
  for (const text of [
    'motor.SetPower',
    'motor.set_power',
    'Motor.setpower',
    'platform.component.motor.v1.MotorService/SetPower',
    '/viam.component.motor.v1.MotorService/SetPower',
  ])
    expect(findMethod(text)).toMatchObject({ name: 'motor.SetPower', api: 'core:component:motor' });
  expect(findMethod('power_sensor.GetPower').api).toBe('core:component:power_sensor');
  expect(findMethod('robot.StopAll').api).toBeUndefined();
  expect(findMethod('generic_service.DoCommand').api).toBe('core:service:generic');
});

test('a misspelled method gets a suggestion, an unknown one the methods of its type, an unknown type the types', () => {
  expect(() => findMethod('motor.SetPover')).toThrow('Did you mean motor.SetPower');
  expect(() => findMethod('motor.Fly')).toThrow(/Methods of motor: .*SetPower/);
  expect(() => findMethod('rocket.Launch')).toThrow(/Types: robot, arm/);
  expect(() => findMethod('StopAll')).toThrow('Did you mean robot.StopAll');
  expect(methodLines().find((line) => line.startsWith('sensor:'))).toContain('GetReadings');
});

test('methods of types that only the machine knows are found and suggested like all others', () => {
  const like = findMethod('motor.SetPower');
  const parent = { ...like.method.parent, typeName: 'acme.widget.v1.WidgetService' };
  const spin = {
    ...like,
    name: 'widget.Spin',
    api: 'acme:component:widget',
    method: { ...like.method, name: 'Spin', parent },
  };
  const all = [...machineMethods, spin];
  for (const text of ['widget.spin', 'acme:component:widget.Spin', '/acme.widget.v1.WidgetService/Spin'])
    expect([text, findMethod(text, all), isOfModule(text)]).toEqual([text, spin, true]);
  for (const text of ['motor.SetPover', 'motor.set_power', '/viam.component.motor.v1.MotorService/SetPower'])
    expect([text, isOfModule(text)]).toEqual([text, false]);
  expect(() => findMethod('widgit.Spin', all)).toThrow('Did you mean widget.Spin?');
  expect(() => findMethod('widget.Turn', all)).toThrow('Methods of widget: Spin');
});
