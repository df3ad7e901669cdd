// The names of all events and interceptors. In hooks.ts, the compiler checks that each name in the types WorkerEvents
// and WorkerInterceptors is also here. The class Hooks refuses other names, because a function that is registered under
// a misspelt name would never be called.

export const events = {
  "worker:create": true,
  "worker:start": true,
  "worker:shutdown": true,
  "worker:recovered": true,
  "worker:leaseLost": true,
  "worker:disconnected": true,
  "worker:reconnected": true,
  "job:fetch": true,
  "job:start": true,
  "job:skip": true,
  "job:success": true,
  "job:error": true,
  "job:failed": true,
  "job:snooze": true,
  "job:complete": true,
  "job:interrupted": true,
  "cron:tick": true,
  "cron:scheduled": true,
  "localQueue:init": true,
  "localQueue:setMode": true,
  "localQueue:getJobs:complete": true,
  "localQueue:returnJobs": true,
  "localQueue:refetchDelay:start": true,
  "localQueue:refetchDelay:abort": true,
  "localQueue:refetchDelay:expired": true,
} as const;

export const interceptors = {
  beforeJobRun: true,
  afterJobRun: true,
  beforeJobSchedule: true,
  jobRecovery: true,
} as const;
