/** Reads and drives the fake of every component type with the public client. Runs in a page, so it uses nothing but its arguments. */

// The client is a script of its own in the page, without types.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Client = any;

/** @returns for each type what was read back after it was driven */
export async function driveEveryType(sdk: Client, robot: Client): Promise<Record<string, unknown>> {
  const of = (type: string, name = 'it'): Client => new sdk[`${type}Client`](robot, name);
  const struct = (value: object): Client => sdk.Struct.fromJson(value);
  const found: Record<string, unknown> = {};

  const arm = of('Arm');
  await arm.moveToJointPositions([1, 2, 3, 4, 5, 6]);
  found['arm'] = [...(await arm.getJointPositions()).values];
  const microphone = of('AudioIn');
  let heard = 0;
  for await (const { audioData } of microphone.getAudio('pcm16', 0.2)) heard += audioData.length;
  found['audio_in'] = heard;
  await of('AudioOut').play(new Uint8Array(10), { codec: 'pcm16', sampleRateHz: 16_000, numChannels: 1 });
  found['audio_out'] = (await of('AudioOut').getProperties()).supportedCodecs;
  const base = of('Base');
  await base.setPower({ x: 0, y: 1, z: 0 }, { x: 0, y: 0, z: 0 });
  found['base'] = await base.isMoving();
  await base.stop();
  const board = of('Board');
  await board.setGPIO('11', true);
  found['board'] = await board.getGPIO('11');
  await of('Button').push();
  found['button'] = 'pushed';
  const { images } = await of('Camera', 'eye').getImages();
  found['camera'] = String.fromCharCode(...images[0].image.slice(1, 4));
  const encoder = of('Encoder');
  await encoder.resetPosition();
  found['encoder'] = (await encoder.getPosition())[0];
  const gantry = of('Gantry');
  await gantry.moveToPosition([50, 150], []);
  found['gantry'] = await gantry.getPosition();
  found['generic'] = await of('GenericComponent').doCommand(struct({ hello: [1, 2] }));
  const gripper = of('Gripper');
  await gripper.grab();
  found['gripper'] = await gripper.isMoving();
  const controller = of('InputController');
  await controller.triggerEvent({ control: 'ButtonStart', event: 'ButtonPress', value: 1 });
  found['input_controller'] = (await controller.getEvents()).some(
    ({ control, value }: { control: string; value: number }) => control === 'ButtonStart' && value === 1,
  );
  const motor = of('Motor');
  await motor.setPower(0.5);
  found['motor'] = await motor.isPowered();
  await motor.stop();
  const movement = of('MovementSensor');
  await movement.doCommand(struct({ set: { compass_heading_deg: 90 } }));
  found['movement_sensor'] = await movement.getCompassHeading();
  const power = of('PowerSensor');
  await power.doCommand(struct({ set: { volts: 5, amperes: 2 } }));
  found['power_sensor'] = await power.getPower();
  found['sensor'] = await of('Sensor').getReadings();
  const servo = of('Servo');
  await servo.move(90);
  found['servo'] = await servo.getPosition();
  const toggle = of('Switch');
  await toggle.setPosition(2);
  found['switch'] = await toggle.getPosition();
  return found;
}

/** What `driveEveryType` finds. */
export const driven: Readonly<Record<string, unknown>> = {
  arm: [1, 2, 3, 4, 5, 6],
  audio_in: 6_400,
  audio_out: ['pcm16'],
  base: true,
  board: true,
  button: 'pushed',
  camera: 'PNG',
  encoder: 0,
  gantry: [50, 150],
  generic: { hello: [1, 2] },
  gripper: false,
  input_controller: true,
  motor: [true, 0.5],
  movement_sensor: 90,
  power_sensor: 10,
  sensor: { celsius: 21.5 },
  servo: 90,
  switch: 2,
};
