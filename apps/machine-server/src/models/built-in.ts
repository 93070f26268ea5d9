import type { Clock } from '@platform/base';
import type { Model } from '../graph/model.ts';
import { createFakeSensor } from './components/sensor/fake.ts';
import { hostTelemetry } from './components/sensor/host-telemetry.ts';
import { createDataManager, type DataManagerParts } from './services/data-manager.ts';

/** Every built-in model of the machine-server; `@platform/machine-config/built-in-models` names them for the cloud. */
export function builtInModels(clock: Clock, dataManager: () => DataManagerParts): readonly Model[] {
  return [createFakeSensor(clock), hostTelemetry, createDataManager(dataManager)];
}
