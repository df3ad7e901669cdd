// The HTTP route of the commands migrate, cleanup, sweep and unlock.

export const maintenanceAction = (action: string) => ({ path: "/api/maintenance", action });
