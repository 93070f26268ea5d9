/**
 * The attributes of each built-in model of this version of the machine-server, by API and model; those of nested objects as `pins.a`. A test
 * of the machine-server keeps them in step with its models.
 */
import { attributeNames } from './attribute-names.ts';
import { dataManagerFields } from './fields.ts';

const names = (text: string): readonly string[] => text.split(' ').filter((name) => name !== '');
const fake = (text = ''): Readonly<Record<string, readonly string[]>> => ({
  'core:builtin:fake': [...names(text), 'errors', 'delays_ms'],
});
const serial = 'address serial_path serial_baud_rate serial_data_bits serial_parity serial_stop_bits';
const stream = 'timeout_ms max_age_ms max_frame_bytes';
const ina = names('i2c_bus i2c_addr shunt_resistance');
const axes = (...vectors: readonly string[]): string =>
  vectors.flatMap((vector) => ['x', 'y', 'z'].map((axis) => `${vector}.${axis}`)).join(' ');

export const builtInAttributes: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'core:component:arm': fake('kinematics joints deg_per_sec mm_per_sec max_joint_deg reach_mm'),
  'core:component:audio_in': fake('frequency_hz sample_rate_hz num_channels'),
  'core:component:audio_out': fake('sample_rate_hz num_channels'),
  'core:component:base': fake(
    'width_meters wheel_circumference_meters turning_radius_meters max_mm_per_sec max_deg_per_sec',
  ),
  'core:component:board': {
    ...fake('analogs digital_interrupts'),
    'core:builtin:gpio': names('chip pins digital_interrupts analogs'),
  },
  'core:component:button': fake(),
  'core:component:camera': {
    ...fake('width_px height_px sources frame_rate'),
    'core:builtin:ffmpeg': names(`${stream} input frame_rate quality filters input_args ffmpeg_path`),
    'core:builtin:image_file': names('path max_frame_bytes'),
    'core:builtin:mjpeg': names(`${stream} url headers`),
  },
  'core:component:encoder': {
    ...fake('ticks_per_rotation ticks_per_sec'),
    'core:builtin:incremental': names('board pins.a pins.b'),
    'core:builtin:single': names('board pins.i dir_flip'),
  },
  'core:component:gantry': fake('lengths_mm mm_per_sec'),
  'core:component:generic': fake(),
  'core:component:gripper': fake('grabs seconds'),
  'core:component:input_controller': fake('controls'),
  'core:component:motor': {
    ...fake('max_rpm position_reporting'),
    'core:builtin:gpio': names(
      'board pins.a pins.b pins.dir pins.pwm pins.en_high pins.en_low max_rpm pwm_freq min_power_pct max_power_pct dir_flip encoder ticks_per_rotation',
    ),
  },
  'core:component:movement_sensor': {
    ...fake(
      `latitude longitude altitude_m compass_heading_deg ${axes('linear_velocity', 'angular_velocity', 'linear_acceleration')} orientation.o_x orientation.o_y orientation.o_z orientation.theta`,
    ),
    'core:builtin:nmea': names(`${serial} max_age_ms timeout_ms`),
  },
  'core:component:power_sensor': {
    ...fake('volts amperes is_ac'),
    'core:builtin:ina219': ina,
    'core:builtin:ina226': ina,
  },
  'core:component:sensor': {
    'core:builtin:fake': names('readings wave wave_period_s'),
    'core:builtin:command': names('command args directory mode timeout_ms max_age_ms max_bytes values'),
    'core:builtin:host-telemetry': names('volumes'),
    'core:builtin:http': names('url headers values timeout_ms max_bytes'),
    'core:builtin:modbus': names(`${serial} unit timeout_ms registers`),
    'core:builtin:mqtt': names('url topic username password client_id qos values timeout_ms max_age_ms max_bytes'),
  },
  'core:component:servo': {
    ...fake('min_angle_deg max_angle_deg start_angle_deg deg_per_sec'),
    'core:builtin:gpio': names(
      'board pin min_angle_deg max_angle_deg starting_position_deg frequency_hz min_width_us max_width_us',
    ),
  },
  'core:component:switch': fake('position_count position labels'),
  'core:service:base_remote_control': {
    'core:builtin:builtin': names('base input_controller control_mode max_linear_mm_per_sec max_angular_deg_per_sec'),
  },
  'core:service:data_manager': { 'core:builtin:builtin': attributeNames(dataManagerFields) },
  'core:service:discovery': fake('discoveries'),
  'core:service:generic': fake(),
  'core:service:motion': fake('seconds'),
  'core:service:navigation': fake('latitude longitude compass_heading_deg'),
  'core:service:shell': { 'core:builtin:builtin': names('shell') },
  'core:service:vision': fake('detections classifications camera_name'),
};
