import { getOption } from '@bufbuild/protobuf';
import { safety_heartbeat_monitored } from '@platform/proto/platform/common/v1/common';
import { accessOf } from '@platform/resources';
import { expect, test } from 'vitest';
import { opaqueService } from '../forward/opaque-service.ts';
import { relayedServices } from '../forward/relayed-services.ts';

const all = relayedServices.flatMap(({ service }) => service.methods);
const named = (kind: string): string[] => [
  ...new Set(all.filter((method) => accessOf(method) === kind).map(({ parent, name }) => `${parent.name}.${name}`)),
];

test('R21 methods whose descriptor marks them as moving, commands, and methods without a reading name are not reads', () => {
  const reads = all.filter((method) => accessOf(method) === 'read');
  expect(reads.filter((method) => getOption(method, safety_heartbeat_monitored))).toEqual([]);
  const changing =
    /^(Set|Do(?!or)|Move|Go|Stop$|StopAll|StopPlan|Play|Push|Grab|Open|Home|Write|Reset|Trigger|Sync|Upload|Copy|Add|Update|Delete|Remove|Spin|Navigate|Execute|Suspend|Resume|Cancel)/;
  expect(reads.filter(({ name }) => changing.test(name))).toEqual([]);
  const control = named('control');
  for (const one of ['MotorService.SetPower', 'MotorService.Stop', 'RobotService.StopAll', 'SensorService.DoCommand'])
    expect(control).toContain(one);
  for (const one of ['ArmService.SetManualMode', 'NavigationService.GoToPoint', 'NavigationService.AddZone'])
    expect(control).toContain(one);
});

test('R21 reads are methods that return something and change nothing', () => {
  const reads = named('read');
  for (const one of [
    'SensorService.GetReadings',
    'BoardService.PWM',
    'BoardService.StreamTicks',
    'MotorService.IsMoving',
  ])
    expect(reads).toContain(one);
  for (const one of ['RobotService.ResourceNames', 'RobotService.SendSessionHeartbeat', 'CameraService.GetImages'])
    expect(reads).toContain(one);
  for (const one of ['ArmService.GetManualMode', 'NavigationService.PlanToPoint', 'VisionService.GetDetections3D'])
    expect(reads).toContain(one);
});

test('R21 only owners can call programs and access files of the computer', () => {
  expect(named('manage').filter((one) => one.startsWith('ShellService.'))).toEqual([
    ...['ShellService.Shell', 'ShellService.CopyFilesToMachine', 'ShellService.CopyFilesFromMachine'],
    'ShellService.DoCommand',
  ]);
});

test('R21 no method of a module is a read, whatever its name, except GetStatus and the reflection of the machine', () => {
  const accessTo = (path: string) => opaqueService(path, 'bidi_streaming')?.methods.map((method) => accessOf(method));
  for (const name of ['Spin', 'GetLevel', 'IsOpen', 'GetReadings', 'DoCommand', 'GetStatuses'])
    expect([name, accessTo(`/acme.widget.v1.WidgetService/${name}`)]).toEqual([name, ['control']]);
  expect(accessTo('/acme.widget.v1.WidgetService/GetStatus')).toEqual(['read']);
  for (const version of ['v1', 'v1alpha'])
    expect(accessTo(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`)).toEqual(['read']);
});
