{{- define "explorer.labels" -}}
app.kubernetes.io/name: rebalance-explorer
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* What names the pods of one process: takes a dict of `root` and `process`. */}}
{{- define "explorer.selector" -}}
app.kubernetes.io/name: rebalance-explorer
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .process }}
{{- end }}

{{- define "explorer.claim" -}}
{{ .Values.storage.existingClaim | default (printf "%s-kept" .Release.Name) }}
{{- end }}

{{/* A Deployment: takes a dict of `root`, `process`, `image`, `args`, `replicas`, `resources`, `watches` and `serves`. */}}
{{- define "explorer.deployment" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .root.Release.Name }}-{{ .process }}
  labels: {{- include "explorer.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .process }}
spec:
  replicas: {{ .replicas }}
  selector:
    matchLabels: {{- include "explorer.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{- include "explorer.labels" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .process }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets: {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile: {type: RuntimeDefault}
      terminationGracePeriodSeconds: 30
      containers:
        - name: {{ .process }}
          image: "{{ .image.repository }}:{{ .image.tag | default .root.Chart.AppVersion }}"
          imagePullPolicy: {{ .image.pullPolicy | default "IfNotPresent" }}
          args: {{- toYaml .args | nindent 12 }}
          envFrom:
            - secretRef: {name: {{ .root.Values.secret }}}
          env:
            {{- $settings := merge (dict "WATCH_CLUSTERS" (ternary "1" "0" .watches)) .root.Values.settings (dict
                "LOGIN" "password" "BEHIND_TLS" "1" "ALLOWED_HOSTS" (printf "localhost,%s" .root.Values.host)
                "PUBLIC_URL" (printf "https://%s" .root.Values.host) "LOG_FORMAT" "json") }}
            {{- range $name, $value := $settings }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          resources: {{- toYaml .resources | nindent 12 }}
          {{- if .serves }}
          ports:
            - {name: http, containerPort: 8000}
          startupProbe:
            httpGet: &healthz {path: /healthz, port: 8000, httpHeaders: [{name: Host, value: localhost}]}
            periodSeconds: 5
            failureThreshold: 60
          livenessProbe:
            httpGet: *healthz
            periodSeconds: 15
            timeoutSeconds: 10
            failureThreshold: 4
          readinessProbe:
            httpGet: {path: /readyz, port: 8000, httpHeaders: [{name: Host, value: localhost}]}
            periodSeconds: 10
            timeoutSeconds: 8
          {{- end }}
          volumeMounts:
            - {name: kept, mountPath: /var/lib/rebalance-explorer}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - name: kept
          persistentVolumeClaim: {claimName: {{ include "explorer.claim" .root }}}
        - name: tmp
          emptyDir: {}
{{- end }}
