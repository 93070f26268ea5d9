/** One call to each RPC of each resource type, in an order that reads changes back. */

export interface NativeCall {
  /** Component or service, and method. */
  readonly call: string;
  /** Without the name of the resource. */
  readonly request: object;
  /** The expected answer: the whole answer of a unary call, or the first message of a stream. */
  readonly answer: object;
}

const call = (name: string, request: object = {}, answer: object = {}): NativeCall => ({ call: name, request, answer });

const pose = { x: 100, y: 200, z: 300, o_x: 0, o_y: 0, o_z: 1, theta: 45 };
const joints = { values: [1, 2, 3, 4, 5, 6] };
const event = { control: 'ButtonStart', event: 'ButtonPress', value: 1 };
const info = { codec: 'pcm16', sample_rate_hz: 16_000, num_channels: 1 };

const moving: readonly NativeCall[] = [
  call('arm.MoveToPosition', { to: pose }),
  call('arm.GetEndPosition', {}, { pose }),
  call('arm.MoveToJointPositions', { positions: joints }),
  call('arm.GetJointPositions', {}, { positions: joints }),
  call('arm.MoveThroughJointPositions', { positions: [{ values: [0, 0, 0, 0, 0, 7] }] }),
  call('arm.GetKinematics', {}, { format: 'KINEMATICS_FILE_FORMAT_SVA', model: { output_frames: ['wrist_yaw'] } }),
  call('arm.Get3DModels'),
  call('arm.Stop'),
  call('arm.IsMoving', {}, { is_moving: false }),
  call('arm.SetManualMode', { manual_mode: true }),
  call('arm.GetManualMode', {}, { manual_mode: true }),
  call('arm.GetProperties', {}, { support_manual_mode: true, support_cartesian_commands: true }),
  call('base.MoveStraight', { distance_mm: 5, mm_per_sec: 500 }),
  call('base.Spin', { angle_deg: 1, degs_per_sec: 90 }),
  call('base.SetPower', { linear: { y: 1 } }),
  call('base.IsMoving', {}, { is_moving: true }),
  call('base.SetVelocity', { linear: { y: 100 } }),
  call('base.Stop'),
  call('base.GetProperties', {}, { width_meters: 0.5 }),
  call('gantry.MoveToPosition', { positions_mm: [50, 150] }),
  call('gantry.GetPosition', {}, { positions_mm: [50, 150] }),
  call('gantry.GetLengths', {}, { lengths_mm: [100, 200] }),
  call('gantry.GetKinematics', {}, { format: 'KINEMATICS_FILE_FORMAT_SVA' }),
  call('gantry.Home', {}, { homed: true }),
  call('gantry.Stop'),
  call('gantry.IsMoving', {}, { is_moving: false }),
  call('gripper.Open'),
  call('gripper.Grab', {}, { success: true }),
  call('gripper.IsHoldingSomething', {}, { is_holding_something: true }),
  call('gripper.GoToInputs', { values: [0.5] }),
  call('gripper.GetCurrentInputs', {}, { values: [0.5] }),
  call('gripper.GetKinematics', {}, { format: 'KINEMATICS_FILE_FORMAT_SVA' }),
  call('gripper.Stop'),
  call('gripper.IsMoving', {}, { is_moving: false }),
  call('motor.SetPower', { power_pct: 0.5 }),
  call('motor.IsPowered', {}, { is_on: true, power_pct: 0.5 }),
  call('motor.SetRPM', { rpm: 100 }),
  call('motor.IsMoving', {}, { is_moving: true }),
  call('motor.Stop'),
  call('motor.ResetZeroPosition', { offset: 0 }),
  call('motor.GoFor', { rpm: 6_000, revolutions: 0.25 }),
  call('motor.GoTo', { rpm: 6_000, position_revolutions: 0.125 }),
  call('motor.GetPosition', {}, { position: 0.125 }),
  call('motor.GetProperties', {}, { position_reporting: true }),
  call('servo.Move', { angle_deg: 90 }),
  call('servo.GetPosition', {}, { position_deg: 90 }),
  call('servo.Stop'),
  call('servo.IsMoving', {}, { is_moving: false }),
];

const switching: readonly NativeCall[] = [
  call('board.SetGPIO', { pin: '11', high: true }),
  call('board.GetGPIO', { pin: '11' }, { high: true }),
  call('board.SetPWM', { pin: '12', duty_cycle_pct: 0.25 }),
  call('board.PWM', { pin: '12' }, { duty_cycle_pct: 0.25 }),
  call('board.SetPWMFrequency', { pin: '12', frequency_hz: 50 }),
  call('board.PWMFrequency', { pin: '12' }, { frequency_hz: 50 }),
  call('board.WriteAnalog', { pin: 'light', value: 3 }),
  call('board.ReadAnalogReader', { analog_reader_name: 'light' }, { value: 3, max_range: 10 }),
  call('board.GetDigitalInterruptValue', { digital_interrupt_name: 'door' }, { value: 1 }),
  call('board.SetPowerMode', { power_mode: 'POWER_MODE_NORMAL' }),
  call('button.Push'),
  call('button.GetStatus', {}, { result: { fields: { pushes: { numberValue: 1 } } } }),
  call('encoder.ResetPosition'),
  call('encoder.GetPosition', {}, { value: 0, position_type: 'POSITION_TYPE_TICKS_COUNT' }),
  call('encoder.GetProperties', {}, { ticks_count_supported: true }),
  call('input_controller.TriggerEvent', { event }),
  call('input_controller.GetEvents', {}, { events: [event] }),
  call('input_controller.GetControls', {}, { controls: ['ButtonStart'] }),
  call('switch.SetPosition', { position: 2 }),
  call('switch.GetPosition', {}, { position: 2 }),
  call('switch.GetNumberOfPositions', {}, { number_of_positions: 3, labels: ['off', 'low', 'high'] }),
];

const sensing: readonly NativeCall[] = [
  call('audio_in.GetAudio', { duration_seconds: 0.1, codec: 'pcm16' }, { audio: { audio_info: info } }),
  call('audio_in.GetProperties', {}, { supported_codecs: ['pcm16'] }),
  call('audio_out.Play', { audio_data: Buffer.alloc(10), audio_info: info }),
  call('audio_out.GetProperties', {}, { supported_codecs: ['pcm16'] }),
  call('camera.GetImages', {}, { images: [{ mime_type: 'image/png' }] }),
  call('camera.GetPointCloud', {}, { mime_type: 'pointcloud/pcd' }),
  call('camera.GetProperties', {}, { supports_pcd: true }),
  call('movement_sensor.GetPosition', {}, { coordinate: { latitude: 48.1, longitude: 11.6 } }),
  call('movement_sensor.GetLinearVelocity', {}, { linear_velocity: { y: 2 } }),
  call('movement_sensor.GetAngularVelocity', {}, { angular_velocity: { x: 0 } }),
  call('movement_sensor.GetLinearAcceleration', {}, { linear_acceleration: { x: 0 } }),
  call('movement_sensor.GetCompassHeading', {}, { value: 0 }),
  call('movement_sensor.GetOrientation', {}, { orientation: { o_z: 1 } }),
  call('movement_sensor.GetProperties', {}, { orientation_supported: true }),
  call('movement_sensor.GetAccuracy', {}, { accuracy: {} }),
  call('movement_sensor.GetReadings', {}, { readings: { compass: { numberValue: 0 } } }),
  call('power_sensor.DoCommand', {
    command: {
      fields: {
        set: { structValue: { fields: { volts: { numberValue: 5 }, amperes: { numberValue: 2 } } } },
      },
    },
  }),
  call('power_sensor.GetVoltage', {}, { volts: 5 }),
  call('power_sensor.GetCurrent', {}, { amperes: 2 }),
  call('power_sensor.GetPower', {}, { watts: 10 }),
  call('power_sensor.GetReadings', {}, { readings: { watts: { numberValue: 10 } } }),
  call('sensor.GetReadings', {}, { readings: { celsius: { numberValue: 21.5 } } }),
];

/** Calls of components; `DoCommand`, `GetStatus` and `GetGeometries` are the same for all types. */
export const nativeCalls: readonly NativeCall[] = [...moving, ...switching, ...sensing];

/** Methods with a stream of requests, or of later events, have a separate test. */
export const streams: readonly string[] = [
  ...['arm.MoveThroughJointPositionsStreamed', 'audio_out.PlayStream', 'board.StreamTicks'],
  'input_controller.StreamEvents',
];
