/**
 * The data manager's attributes and capture methods once, as tables: defaults and bounds of the specification.
 * `parse` builds zod from them, `data-manager` reads with them where zod is too dear (the machine).
 */

export type Field =
  | { readonly kind: 'bool'; readonly default?: boolean }
  | { readonly kind: 'string'; readonly default?: string }
  | { readonly kind: 'strings' }
  | { readonly kind: 'object' }
  | { readonly kind: 'objects' }
  | { readonly kind: 'int' | 'float'; readonly default?: number; readonly min?: number; readonly max?: number };

export const dataManagerFields: Readonly<Record<string, Field>> = {
  capture_disabled: { kind: 'bool', default: false },
  capture_dir: { kind: 'string' },
  tags: { kind: 'strings' },
  sync_disabled: { kind: 'bool', default: false },
  additional_sync_paths: { kind: 'strings' },
  sync_interval_mins: { kind: 'float', default: 0.1, min: 0 },
  selective_syncer_name: { kind: 'string' },
  delete_every_nth_when_disk_full: { kind: 'int', default: 5, min: 1 },
  maximum_num_sync_threads: { kind: 'int', min: 0 },
  docdb_capture_config: { kind: 'object' },
  maximum_capture_file_size_bytes: { kind: 'int', default: 262_144, min: 1 },
  file_last_modified_millis: { kind: 'int', default: 10_000, min: 0 },
  disk_usage_deletion_threshold: { kind: 'float', default: 0.9, min: 0, max: 1 },
  capture_dir_deletion_threshold: { kind: 'float', default: 0.5, min: 0, max: 1 },
  delete_data_on_part_deletion: { kind: 'bool', default: false },
};

export const captureMethodFields: Readonly<Record<string, Field>> = {
  name: { kind: 'string' },
  method: { kind: 'string' },
  capture_frequency_hz: { kind: 'float' },
  additional_params: { kind: 'object' },
  disabled: { kind: 'bool', default: false },
  tags: { kind: 'strings' },
  capture_directory: { kind: 'string' },
  capture_queue_size: { kind: 'int', default: 250, min: 0 },
  capture_buffer_size: { kind: 'int', default: 4_096, min: 0 },
  cache_size_kb: { kind: 'float', default: 1, min: 0 },
  recent_data_store: { kind: 'object' },
};
