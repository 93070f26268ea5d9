/** The data manager's attributes and capture methods as tables: defaults and bounds of the specification. */

export type Fields = Readonly<Record<string, Field>>;

export type Field =
  | { readonly kind: 'bool'; readonly default?: boolean }
  | { readonly kind: 'string'; readonly default?: string }
  /** Letters, digits, underscores and dashes. */
  | { readonly kind: 'tags' }
  | { readonly kind: 'absolutePaths' }
  /** Secret: never quoted in a message. */
  | { readonly kind: 'docdbUri' }
  | { readonly kind: 'object'; readonly of?: Fields }
  | { readonly kind: 'list' }
  /** Any number: unsupported values are ignored, with a separate warning (D24). */
  | { readonly kind: 'any' }
  | { readonly kind: 'int' | 'float'; readonly default?: number; readonly min?: number; readonly max?: number };

export const dataManagerFields: Fields = {
  capture_disabled: { kind: 'bool', default: false },
  capture_dir: { kind: 'string' },
  tags: { kind: 'tags' },
  sync_disabled: { kind: 'bool', default: false },
  additional_sync_paths: { kind: 'absolutePaths' },
  sync_interval_mins: { kind: 'float', default: 0.1, min: 0 },
  selective_syncer_name: { kind: 'string' },
  delete_every_nth_when_disk_full: { kind: 'int', default: 5, min: 1 },
  maximum_num_sync_threads: { kind: 'int', min: 0 },
  docdb_capture_config: {
    kind: 'object',
    of: { uri: { kind: 'docdbUri' }, database: { kind: 'string' }, collection: { kind: 'string' } },
  },
  maximum_capture_file_size_bytes: { kind: 'int', default: 262_144, min: 1 },
  file_last_modified_millis: { kind: 'int', default: 10_000, min: 0 },
  disk_usage_deletion_threshold: { kind: 'float', default: 0.9, min: 0, max: 1 },
  capture_dir_deletion_threshold: { kind: 'float', default: 0.5, min: 0, max: 1 },
  delete_data_on_part_deletion: { kind: 'bool', default: false },
  // Not in the specification: docs/guides/sync.md.
  sync_order: { kind: 'string', default: 'oldest_first' },
  sync_priorities: { kind: 'object' },
  sync_max_bytes_per_second: { kind: 'int', default: 0, min: 0 },
  sync_rules: {
    kind: 'object',
    of: {
      time_window: {
        kind: 'object',
        of: { start: { kind: 'string' }, end: { kind: 'string' }, days: { kind: 'list' } },
      },
      network_interfaces: { kind: 'list' },
      when_free_disk_below: { kind: 'float', min: 0, max: 1 },
    },
  },
  additional_sync_action: { kind: 'string', default: 'delete' },
  additional_sync_move_to: { kind: 'string' },
};

export const captureMethodFields: Fields = {
  name: { kind: 'string' },
  method: { kind: 'string' },
  capture_frequency_hz: { kind: 'float', min: 0 },
  additional_params: { kind: 'object' },
  disabled: { kind: 'bool', default: false },
  tags: { kind: 'tags' },
  capture_directory: { kind: 'string' },
  capture_queue_size: { kind: 'int', min: 0 },
  capture_buffer_size: { kind: 'int', default: 4_096, min: 0 },
  cache_size_kb: { kind: 'float', default: 1, min: 0 },
  recent_data_store: { kind: 'object', of: { stored_hours: { kind: 'float', min: 0 } } },
};

/** `attributes` of a `service_configs` entry of the data manager. */
export const captureFields: Fields = {
  capture_methods: { kind: 'list' },
  retention_policy: {
    kind: 'object',
    of: { days: { kind: 'any' }, binary_limit_gb: { kind: 'any' }, tabular_limit_gb: { kind: 'any' } },
  },
};
