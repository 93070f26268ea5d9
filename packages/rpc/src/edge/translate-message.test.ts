import { create, equals, toJson } from '@bufbuild/protobuf';
import { canonicalApi } from '@platform/base';
import { DataCaptureUploadRequestSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { ResourceRPCSubtypesResponseSchema } from '@platform/proto/platform/robot/v1/robot';
import { describe, expect, test } from 'vitest';
import { apiIn } from './api-names.ts';
import { canonicalise, inVocabulary } from './translate-message.ts';

function config(namespace: 'core' | 'rdk') {
  return create(RobotConfigSchema, {
    components: [
      {
        name: 'rdk:core:name',
        namespace,
        type: 'sensor',
        api: `${namespace}:component:sensor`,
        model: `${namespace}:builtin:fake`,
        dependsOn: ['short', `${namespace}:component:camera/c1`],
        serviceConfigs: [
          {
            type: `${namespace}:service:data_manager`,
            attributes: { api: 'rdk:component:sensor', other: 'core:component:sensor' },
          },
        ],
        attributes: { model: 'rdk:x:y', nested: { namespace: 'core' } },
      },
    ],
    services: [{ name: 's', namespace, api: `${namespace}:service:motion`, model: 'acme:core:rdk' }],
    remotes: [{ name: 'r', serviceConfigs: [{ type: `${namespace}:service:data_manager` }] }],
    maintenance: { sensorName: { namespace, type: 'component', subtype: 'sensor', name: 'core' } },
    revision: 'core:rdk',
    log: [{ pattern: 'rdk.*', level: 'core:x' }],
  });
}

describe('D2 API names in messages', () => {
  test('D2 a configuration reaches an rdk peer in its spelling, attributes and foreign models untouched', () => {
    const stored = config('core');
    const before = toJson(RobotConfigSchema, stored);
    const sent = inVocabulary('rdk', RobotConfigSchema, stored);
    expect(toJson(RobotConfigSchema, sent as typeof stored)).toEqual(toJson(RobotConfigSchema, config('rdk')));
    expect(toJson(RobotConfigSchema, stored)).toEqual(before);
  });

  test('D2 names from an rdk peer become core inside, and return to it unchanged', () => {
    const received = canonicalise(RobotConfigSchema, config('rdk'));
    expect(equals(RobotConfigSchema, received, config('core'))).toBe(true);
    expect(toJson(RobotConfigSchema, inVocabulary('rdk', RobotConfigSchema, received) as typeof received)).toEqual(
      toJson(RobotConfigSchema, config('rdk')),
    );
  });

  test('D2 only the component type of an upload is canonicalised', () => {
    const upload = (namespace: string) =>
      create(DataCaptureUploadRequestSchema, {
        metadata: {
          componentType: `${namespace}:component:sensor`,
          componentName: 'rdk:component:sensor',
          tags: ['rdk:a:b'],
        },
        sensorContents: [{ data: { case: 'struct', value: { api: 'rdk:component:sensor' } } }],
      });
    expect(canonicalise(DataCaptureUploadRequestSchema, upload('rdk'))).toEqual(upload('core'));
  });

  test('D2 names of gRPC services follow the path alias', () => {
    const own = create(ResourceRPCSubtypesResponseSchema, {
      resourceRpcSubtypes: [
        { subtype: { namespace: 'core' }, protoService: 'platform.component.sensor.v1.SensorService' },
      ],
    });
    const sent = inVocabulary('rdk', ResourceRPCSubtypesResponseSchema, own) as typeof own;
    expect(sent.resourceRpcSubtypes[0]?.protoService).toBe('viam.component.sensor.v1.SensorService');
    expect(sent.resourceRpcSubtypes[0]?.subtype?.namespace).toBe('rdk');
  });

  test('D2 only the namespace at the start of a name is translated', () => {
    const names = ['rdk:component:sensor', 'rdk', 'data_manager', 'acme:rdk:x', 'rdkx:a:b', ''];
    expect(names.map(canonicalApi)).toEqual([
      'core:component:sensor',
      'rdk',
      'data_manager',
      'acme:rdk:x',
      'rdkx:a:b',
      '',
    ]);
    expect(apiIn('rdk', 'core:component:sensor')).toBe('rdk:component:sensor');
    expect(apiIn('core', 'rdk:component:sensor')).toBe('core:component:sensor');
  });
});
